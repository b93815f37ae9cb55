//! The modules of a crate, read from its files: what each defines, re-exports and uses. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::Visit;
use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::graph::Graph;

/// A module's path from the root of its crate; empty for the root.
type Name = Vec<String>;

#[derive(Default)]
struct Module {
    /// The names that it defines.
    defines: BTreeSet<String>,
    /// The names that it re-exports, and the paths that they stand for, as written.
    re_exports: BTreeMap<String, Name>,
    /// The modules whose names it re-exports all.
    globs: Vec<Name>,
    /// The paths that it uses, as written.
    uses: BTreeSet<Name>,
}

/// The modules of a crate.
#[derive(Default)]
pub struct Modules(BTreeMap<Name, Module>);

/// Reads a crate from its entry file.
pub fn read(entry: &Path) -> Modules {
    let mut modules = Modules::default();
    modules.read_file(entry, entry.parent().expect("a file is in a folder"), Vec::new());
    modules
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let is = |attribute: &syn::Attribute| {
        attribute.path().is_ident("cfg")
            && quote::ToTokens::to_token_stream(&attribute.meta).to_string().contains("test")
    };
    attributes.iter().any(is)
}

impl Modules {
    fn read_file(&mut self, file: &Path, children: &Path, name: Name) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.read_items(&parsed.items, children, name);
    }

    fn read_items(&mut self, items: &[Item], children: &Path, name: Name) {
        let mut module = Module::default();
        for item in items {
            match item {
                Item::Mod(child) if is_test(&child.attrs) => {}
                Item::Mod(child) => self.read_child(child, children, &name),
                Item::Use(used) if is_test(&used.attrs) => {}
                Item::Use(used) => module.read_use(used),
                other => module.read_item(other),
            }
        }
        self.0.insert(name, module);
    }

    fn read_child(&mut self, child: &ItemMod, children: &Path, parent: &Name) {
        let ident = child.ident.to_string();
        let name = [parent.as_slice(), std::slice::from_ref(&ident)].concat();
        let folder = children.join(&ident);
        match &child.content {
            Some((_, items)) => self.read_items(items, &folder, name),
            None => {
                let files = [children.join(format!("{ident}.rs")), folder.join("mod.rs")];
                // One without a file is generated.
                if let Some(file) = files.into_iter().find(|file| file.exists()) {
                    self.read_file(&file, &folder, name);
                }
            }
        }
    }

    /// For each module those whose items it uses.
    pub fn uses(&self) -> Graph {
        let shown = |name: &Name| if name.is_empty() { "the root".to_owned() } else { name.join("::") };
        let of = |(name, module): (&Name, &Module)| {
            let used = module.uses.iter().filter_map(|path| self.home(name, path, 0)).filter(|home| home != name);
            (shown(name), used.map(|home| shown(&home)).collect())
        };
        self.0.iter().map(of).collect()
    }

    /// The module that defines what a path in a module stands for; none where that is another crate's.
    fn home(&self, from: &Name, path: &[String], depth: usize) -> Option<Name> {
        let (mut at, rest) = self.start(from, path)?;
        for (index, segment) in rest.iter().enumerate() {
            let child = [at.as_slice(), std::slice::from_ref(segment)].concat();
            if self.0.contains_key(&child) {
                at = child;
                continue;
            }
            let module = self.0.get(&at)?;
            if let Some(target) = module.re_exports.get(segment).filter(|_| depth < 8) {
                let target = [target.as_slice(), &rest[index + 1..]].concat();
                return self.home(&at, &target, depth + 1);
            }
            if !module.defines.contains(segment) {
                let through = |glob: &Name| self.home(&at, &[glob.as_slice(), &rest[index..]].concat(), depth + 1);
                return if depth < 8 { module.globs.iter().find_map(through) } else { None };
            }
            return Some(at);
        }
        // A module itself is named, to be reached through.
        Some(at)
    }

    /// Where a path begins, and what is left of it.
    fn start<'a>(&self, from: &Name, path: &'a [String]) -> Option<(Name, &'a [String])> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest)),
            "self" => Some((from.clone(), rest)),
            "super" => {
                let parent: Name = from.split_last().map(|(_, parent)| parent.to_vec())?;
                if rest.first().is_some_and(|next| next == "super") {
                    return self.start(&parent, rest);
                }
                Some((parent, rest))
            }
            _ => {
                let child = [from.as_slice(), std::slice::from_ref(first)].concat();
                self.0.contains_key(&child).then_some((from.clone(), path))
            }
        }
    }
}

impl Module {
    fn read_use(&mut self, used: &ItemUse) {
        let is_public = !matches!(used.vis, Visibility::Inherited);
        self.read_tree(&used.tree, Vec::new(), is_public);
    }

    fn read_tree(&mut self, tree: &UseTree, mut path: Name, is_public: bool) {
        match tree {
            UseTree::Path(next) => {
                path.push(next.ident.to_string());
                self.read_tree(&next.tree, path, is_public);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.read_tree(tree, path.clone(), is_public)),
            UseTree::Glob(_) if is_public => self.globs.push(path),
            UseTree::Glob(_) => drop(self.uses.insert(path)),
            UseTree::Name(name) if name.ident == "self" => drop(self.uses.insert(path)),
            UseTree::Name(name) => self.read_name(name.ident.to_string(), name.ident.to_string(), path, is_public),
            UseTree::Rename(name) => self.read_name(name.rename.to_string(), name.ident.to_string(), path, is_public),
        }
    }

    fn read_name(&mut self, shown: String, name: String, mut path: Name, is_public: bool) {
        path.push(name);
        if is_public {
            self.re_exports.insert(shown, path);
        } else {
            self.uses.insert(path);
        }
    }

    fn read_item(&mut self, item: &Item) {
        let name = match item {
            Item::Const(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            Item::Static(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            Item::Macro(item) => item.ident.as_ref(),
            _ => None,
        };
        self.defines.extend(name.map(ToString::to_string));
        self.visit_item(item);
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Name = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.uses.insert(segments);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, used: &'ast ItemUse) {
        self.read_use(used);
    }
}

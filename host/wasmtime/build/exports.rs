//! Exports the interfaces of a component without a component around each.
//!
//! wit-component wraps every exported interface into a component of its own, a shim, which takes the functions and the
//! types in and gives them out under their names. Each shim describes all types that it touches once more: a fifth of our
//! component. An instance whose type stands at its export is the same to every host, and describes none of them again.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::ops::Range;

use wasm_encoder::reencode::{Reencode, ReencodeComponent};
use wasm_encoder::{
    Alias, Component, ComponentExportKind, ComponentExportSection, ComponentInstanceSection, ComponentOuterAliasKind,
    ComponentTypeRef, ComponentTypeSection, InstanceType, RawSection, TypeBounds,
};
use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentInstantiationArg, ComponentType, Parser, Payload,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The same component without shims, and without custom sections: names for debuggers and a list of tools.
pub fn without_shims(component: &[u8]) -> Result<Vec<u8>> {
    let mut kept = Component::new();
    let mut shims = Vec::new();
    // The index spaces of what is kept.
    let (mut types, mut instances) = (0, 0);
    let mut wrapped = HashMap::new();
    let mut exports = Vec::new();
    for payload in outermost(Parser::new(0), component) {
        let payload = payload?;
        match &payload {
            Payload::CustomSection(_) => continue,
            Payload::ComponentSection { parser, unchecked_range } => {
                shims.push(Shim::parse(parser.clone(), &component[within(unchecked_range)])?);
                continue;
            }
            Payload::ComponentInstanceSection(made) => {
                for instance in made.clone() {
                    let ComponentInstance::Instantiate { component_index, args } = instance? else {
                        return Err("an instance that is not a shim's".into());
                    };
                    wrapped.insert(instances + (wrapped.len() + exports.len()) as u32, (component_index, args));
                }
                continue;
            }
            Payload::ComponentExportSection(given) => {
                for export in given.clone() {
                    let export = export?;
                    let shim = wrapped.get(&export.index).cloned().ok_or("an export that is not a shim's instance")?;
                    exports.push((export.name.name, shim));
                }
                continue;
            }
            Payload::ComponentTypeSection(defined) => types += defined.count(),
            Payload::ComponentImportSection(imports) => instances += imports.count(),
            Payload::ComponentAliasSection(aliases) => {
                for alias in aliases.clone() {
                    if let ComponentAlias::InstanceExport { kind: ComponentExternalKind::Type, .. } = alias? {
                        types += 1;
                    }
                }
            }
            _ => {}
        }
        if let Some((id, range)) = payload.as_section() {
            kept.section(&RawSection { id, data: &component[within(&range)] });
        }
    }
    let mut of_types = ComponentTypeSection::new();
    let mut of_instances = ComponentInstanceSection::new();
    let mut of_exports = ComponentExportSection::new();
    for (at, (name, (shim, arguments))) in (0..).zip(&exports) {
        let shim: &Shim = shims.get(*shim as usize).ok_or("an instance of no shim")?;
        let taken = arguments.iter().map(|argument| (argument.name, argument.index)).collect();
        of_types.instance(&shim.instance_type(&taken)?);
        of_instances.export_items(shim.items(arguments)?);
        let ty = ComponentTypeRef::Instance(types + at);
        of_exports.export(*name, ComponentExportKind::Instance, instances + at, Some(ty));
    }
    kept.section(&of_types).section(&of_instances).section(&of_exports);
    Ok(kept.finish())
}

/// What stands in a component itself: not in the modules and components in it.
fn outermost<'a>(parser: Parser, component: &'a [u8]) -> impl Iterator<Item = wasmparser::Result<Payload<'a>>> {
    let mut depth = 0;
    parser.parse_all(component).filter(move |payload| match payload {
        Ok(Payload::ModuleSection { .. } | Payload::ComponentSection { .. }) => {
            depth += 1;
            depth == 1
        }
        Ok(Payload::End(_)) => {
            depth -= 1;
            false
        }
        _ => depth == 0,
    })
}

fn within(range: &Range<u64>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// What a shim does.
struct Shim<'a> {
    types: Vec<Type<'a>>,
    exports: Vec<(&'a str, Item<'a>)>,
}

/// A type of a shim.
enum Type<'a> {
    /// It is taken in under this name.
    Taken(&'a str),
    /// It is another one, given out.
    Given(u32),
    /// It is described.
    Described(ComponentType<'a>),
}

/// What is given out.
enum Item<'a> {
    Type(u32),
    Function { taken: &'a str, ty: u32 },
}

impl<'a> Shim<'a> {
    fn parse(parser: Parser, component: &'a [u8]) -> Result<Shim<'a>> {
        let mut shim = Shim { types: Vec::new(), exports: Vec::new() };
        let mut functions = Vec::new();
        for payload in outermost(parser, component) {
            match payload? {
                Payload::ComponentImportSection(imports) => {
                    for import in imports {
                        let import = import?;
                        match import.ty {
                            wasmparser::ComponentTypeRef::Func(_) => functions.push(import.name.name),
                            wasmparser::ComponentTypeRef::Type(_) => shim.types.push(Type::Taken(import.name.name)),
                            other => return Err(format!("a shim that takes in {other:?}").into()),
                        }
                    }
                }
                Payload::ComponentTypeSection(types) => {
                    for ty in types {
                        shim.types.push(Type::Described(ty?));
                    }
                }
                Payload::ComponentExportSection(exports) => {
                    for export in exports {
                        let export = export?;
                        let item = match (export.kind, export.ty) {
                            (ComponentExternalKind::Func, Some(wasmparser::ComponentTypeRef::Func(ty))) => {
                                let taken = functions.get(export.index as usize).ok_or("a function from nowhere")?;
                                Item::Function { taken, ty }
                            }
                            (ComponentExternalKind::Type, None) => {
                                shim.types.push(Type::Given(export.index));
                                Item::Type(shim.types.len() as u32 - 1)
                            }
                            other => return Err(format!("a shim that gives out {other:?}").into()),
                        };
                        shim.exports.push((export.name.name, item));
                    }
                }
                Payload::Version { .. } | Payload::CustomSection(_) => {}
                other => return Err(format!("a shim with {other:?}").into()),
            }
        }
        Ok(shim)
    }

    fn ty(&self, index: u32) -> Result<&Type<'a>> {
        self.types.get(index as usize).ok_or_else(|| "a type from nowhere".into())
    }

    /// The type of the instance that the shim makes. `taken` are the types outside that it is given.
    fn instance_type(&self, taken: &HashMap<&str, u32>) -> Result<InstanceType> {
        let mut made = Described { shim: self, taken, ty: InstanceType::new(), indices: Indices::default() };
        for (name, item) in &self.exports {
            match item {
                Item::Function { ty, .. } => {
                    let function = made.index(*ty)?;
                    made.ty.export(*name, ComponentTypeRef::Func(function));
                }
                Item::Type(ty) => {
                    let same = made.index(*ty)?;
                    let given = made.ty.type_count();
                    made.ty.export(*name, ComponentTypeRef::Type(TypeBounds::Eq(same)));
                    made.indices.known.insert(*ty, given);
                }
            }
        }
        Ok(made.ty)
    }

    /// What the shim gives out, by name and place outside.
    fn items(
        &self,
        arguments: &[ComponentInstantiationArg<'_>],
    ) -> Result<impl ExactSizeIterator<Item = (&'a str, ComponentExportKind, u32)> + use<'a>> {
        let outside = |name: &str| {
            let argument = arguments.iter().find(|argument| argument.name == name);
            argument.map(|argument| argument.index).ok_or("a shim that is given too little")
        };
        let mut items = Vec::new();
        for (name, item) in &self.exports {
            items.push(match item {
                Item::Function { taken, .. } => (*name, ComponentExportKind::Func, outside(taken)?),
                Item::Type(ty) => {
                    let mut ty = self.ty(*ty)?;
                    while let Type::Given(other) = ty {
                        ty = self.ty(*other)?;
                    }
                    let Type::Taken(taken) = ty else { return Err("a type of the shim's own".into()) };
                    (*name, ComponentExportKind::Type, outside(taken)?)
                }
            });
        }
        Ok(items.into_iter())
    }
}

/// An instance type in the making.
struct Described<'s, 'a> {
    shim: &'s Shim<'a>,
    taken: &'s HashMap<&'s str, u32>,
    ty: InstanceType,
    indices: Indices,
}

impl Described<'_, '_> {
    /// The index in it of a type of the shim, which is described now if it was not yet.
    fn index(&mut self, ty: u32) -> Result<u32> {
        if let Some(known) = self.indices.known.get(&ty) {
            return Ok(*known);
        }
        let index = match self.shim.ty(ty)? {
            Type::Given(other) => self.index(*other)?,
            Type::Taken(name) => {
                let outside = *self.taken.get(name).ok_or("a shim that is given too little")?;
                self.ty.alias(Alias::Outer { kind: ComponentOuterAliasKind::Type, count: 1, index: outside });
                self.ty.type_count() - 1
            }
            Type::Described(described) => {
                // Once for nothing, to find out what it refers to.
                self.indices.parse_component_type(InstanceType::new().ty(), described.clone())?;
                for other in std::mem::take(&mut self.indices.unknown) {
                    self.index(other)?;
                }
                self.indices.parse_component_type(self.ty.ty(), described.clone())?;
                self.ty.type_count() - 1
            }
        };
        self.indices.known.insert(ty, index);
        Ok(index)
    }
}

/// The indices of a shim's types in an instance type.
#[derive(Default)]
struct Indices {
    known: HashMap<u32, u32>,
    unknown: Vec<u32>,
}

impl Reencode for Indices {
    type Error = Infallible;
}

impl ReencodeComponent for Indices {
    fn component_type_index(&mut self, ty: u32) -> u32 {
        self.known.get(&ty).copied().unwrap_or_else(|| {
            self.unknown.push(ty);
            0
        })
    }
}

//! Circles of a directed graph.

use std::collections::{BTreeMap, BTreeSet};

/// For each node the nodes that it uses.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// The sets of nodes that reach each other, each sorted.
pub fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|node| (node, reach(graph, node))).collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for (node, others) in &reached {
        if !others.contains(node) || found.iter().flatten().any(|seen| seen == *node) {
            continue;
        }
        let back = others.iter().filter(|other| reached.get(**other).is_some_and(|back| back.contains(node)));
        found.push(back.map(|name| (*name).clone()).collect());
    }
    found
}

fn reach<'a>(graph: &'a Graph, from: &str) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&String> = graph.get(from).into_iter().flatten().collect();
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            open.extend(graph.get(node).into_iter().flatten());
        }
    }
    seen
}

/// The newest transitions of removals that the stream of a namespace keeps, at most.
pub const FORGOTTEN: usize = 1_000;

/// A position in the stream of transitions of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cursor {
    /// Before the oldest transition that is kept.
    Start,
    /// After the newest transition at this moment.
    End,
    /// The end of a page; the number is the store's own.
    After(u64),
}

/// A transition and its dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The dependency.
    pub dependency: String,
    /// The transition, as JSON.
    pub transition: String,
}

/// A part of the stream of transitions of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The transitions, in the order of their commits.
    pub transitions: Vec<Observed>,
    /// The start of the next page; always a [`Cursor::After`].
    pub next: Cursor,
}

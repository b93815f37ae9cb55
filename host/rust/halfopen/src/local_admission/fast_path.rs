/// The decision on one more call where it takes no sample and no exact clock: nearly every call meets a decision that admits
/// all calls or refuses them, well before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastPath {
    /// It is admitted, and the time that it takes does not count.
    Admit { epoch: u64, generation: u32 },
    /// It is refused, `age` ms after the request of the decision.
    Refuse { age: u64 },
    /// The decision is not so plain, or not known.
    None,
}

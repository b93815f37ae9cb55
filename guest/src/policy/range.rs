//! The ranges of a policy's numbers.

/// The whole numbers that a field may be.
pub struct Range {
    least: u64,
    most: u64,
    multiple_of: u64,
    /// The same in words.
    pub text: &'static str,
}

const LONGEST_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

pub const COUNT_OR_0: Range = range(0, 1_000_000, "must be a whole number from 0 (off) to 1,000,000");
pub const COUNT: Range = range(1, 1_000_000, "must be a whole number from 1 to 1,000,000");
pub const LENGTH: Range = range(1, LONGEST_MS, "must be a whole number from 1 to 2,592,000,000 (30 days)");
pub const LENGTH_OR_0: Range = range(0, LONGEST_MS, "must be a whole number from 0 to 2,592,000,000 (30 days)");
pub const UP_TO_100: Range = range(1, 100, "must be a whole number from 1 to 100");
pub const UP_TO_100_OR_0: Range = range(0, 100, "must be a whole number from 0 to 100");
pub const WINDOW_CALLS: Range = range(1, 1_000, "must be a whole number from 1 to 1,000");
pub const WINDOW_MS: Range =
    Range { multiple_of: 10, ..range(10, 86_400_000, "must be a multiple of 10 from 10 to 86,400,000 (one day)") };

const fn range(least: u64, most: u64, text: &'static str) -> Range {
    Range { least, most, multiple_of: 1, text }
}

impl Range {
    /// Whether a number is one of them.
    pub fn holds(&self, number: u64) -> bool {
        self.least <= number && number <= self.most && number.is_multiple_of(self.multiple_of)
    }
}

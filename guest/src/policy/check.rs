//! The check of a policy that was not read from JSON.

use super::fields::{Fields, visit};
use super::range::{Range, holds_multiplier};
use super::types::{LostProbe, Policy, WindowSpan};

impl Policy {
    /// Whether each field is in its range.
    pub fn is_valid(&self) -> bool {
        let mut check = Check::default();
        visit(&mut self.clone(), &mut check);
        !check.out_of_range
    }
}

/// Compares the fields of a policy with their ranges.
#[derive(Default)]
struct Check {
    out_of_range: bool,
}

impl Check {
    fn expect(&mut self, valid: bool) {
        self.out_of_range |= !valid;
    }
}

impl Fields for Check {
    fn number(&mut self, _: &'static str, number: &mut u64, range: &Range) {
        self.expect(range.holds(*number));
    }

    fn multiplier(&mut self, _: &'static str, multiplier: &mut f64) {
        self.expect(holds_multiplier(*multiplier));
    }

    fn table(&mut self, _: &'static str, is_on: bool) -> bool {
        is_on
    }

    fn window(&mut self, _: &'static str, _: &mut WindowSpan) {}

    fn lost_probe(&mut self, _: &'static str, _: &mut LostProbe) {}

    fn at_most(&mut self, (_, length): (&'static str, u64), (_, limit): (&'static str, u64)) {
        self.expect(length <= limit);
    }
}

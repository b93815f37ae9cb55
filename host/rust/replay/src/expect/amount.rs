use std::fmt;

use crate::json::{Raw, whole_number, wrong_type};

/// A number, or a range with both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    low: u64,
    high: u64,
}

impl Amount {
    pub fn fits(self, number: u64) -> bool {
        (self.low..=self.high).contains(&number)
    }

    pub fn read(key: &str, raw: &Raw) -> Result<Self, String> {
        if let Some(number) = whole_number(raw) {
            return Ok(Amount { low: number, high: number });
        }
        let wanted = "a whole number or [low, high]";
        let ends: Vec<&Raw> = serde_json::from_str(raw.get()).map_err(|_| wrong_type(key, wanted, raw))?;
        match ends.iter().map(|end| whole_number(end)).collect::<Vec<_>>()[..] {
            [Some(low), Some(high)] if low <= high => Ok(Amount { low, high }),
            [Some(low), Some(high)] => Err(format!("{key:?} is [{low}, {high}], whose low end is above its high end")),
            _ => Err(format!("{key:?} must be {wanted}, with two whole numbers in the brackets")),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.low == self.high {
            true => write!(f, "{}", self.low),
            false => write!(f, "[{}, {}]", self.low, self.high),
        }
    }
}

//! A value as a list of numbers, written and read by one description.
//!
//! A description goes over the numbers that make up a value, in order, and shows each to a [`Form`]. A form that writes
//! takes them down; a form that reads replaces them. So writing and reading cannot disagree. Either form judges the ranges
//! that the description gives.

use alloc::string::String;
use alloc::vec::Vec;

/// The numbers that a field may be.
pub struct Range {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
    /// The same in words.
    pub text: &'static str,
}

/// A field that is out of range: its name, and its range in words.
pub type Fault = (&'static str, &'static str);

/// Writes the numbers of a value, or reads them into it.
pub struct Form {
    numbers: Vec<u64>,
    /// How many have been read; none in a form that writes.
    read: Option<usize>,
    sound: bool,
    faults: Vec<Fault>,
}

impl Form {
    /// A form that writes.
    pub fn writing() -> Form {
        Form { numbers: Vec::new(), read: None, sound: true, faults: Vec::new() }
    }

    /// A form that reads these numbers.
    pub fn reading(numbers: Vec<u64>) -> Form {
        Form { numbers, read: Some(0), sound: true, faults: Vec::new() }
    }

    /// Whether it reads.
    pub fn reads(&self) -> bool {
        self.read.is_some()
    }

    /// The numbers that were written.
    pub fn into_numbers(self) -> Vec<u64> {
        self.numbers
    }

    /// The fields that were out of range.
    pub fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    /// Whether all that was read can be so.
    pub fn is_sound(&self) -> bool {
        self.sound && self.faults.is_empty()
    }

    /// Whether all numbers have been read.
    pub fn is_at_end(&self) -> bool {
        self.read == Some(self.numbers.len())
    }

    /// Notes whether what was read can be so.
    pub fn demand(&mut self, sound: bool) {
        self.sound &= sound;
    }

    /// A number.
    #[inline(never)]
    pub fn number(&mut self, number: &mut u64) {
        let Some(read) = &mut self.read else {
            return self.numbers.push(*number);
        };
        match self.numbers.get(*read) {
            Some(next) => {
                *number = *next;
                *read += 1;
            }
            None => self.sound = false,
        }
    }

    /// A number of 32 bits.
    #[inline(never)]
    pub fn number32(&mut self, number: &mut u32) {
        *number = self.at_most(u32::MAX, *number);
    }

    /// One of several: 0 to `last`. Returns which.
    #[inline(never)]
    pub fn at_most(&mut self, last: u32, number: u32) -> u32 {
        let mut read = u64::from(number);
        self.number(&mut read);
        self.demand(read <= u64::from(last));
        read as u32
    }

    /// A yes or no. Returns which.
    #[inline(never)]
    pub fn flag(&mut self, flag: bool) -> bool {
        self.at_most(1, flag.into()) == 1
    }

    /// A number or none.
    #[inline(never)]
    pub fn option(&mut self, option: &mut Option<u64>) {
        let mut number = option.unwrap_or(0);
        let some = self.flag(option.is_some());
        if some {
            self.number(&mut number);
        }
        *option = some.then_some(number);
    }

    /// A text: each character plus one, and a 0.
    #[inline(never)]
    pub fn text(&mut self, text: &mut String) {
        if !self.reads() {
            text.chars().for_each(|character| _ = self.at_most(u32::MAX, u32::from(character) + 1));
            self.flag(false);
            return;
        }
        loop {
            match self.at_most(u32::MAX, 0) {
                0 => return,
                more => match char::from_u32(more - 1) {
                    Some(character) => text.push(character),
                    None => return self.sound = false,
                },
            }
        }
    }

    /// A field with a name and a range.
    #[inline(never)]
    pub fn field(&mut self, name: &'static str, number: &mut u64, range: &'static Range) {
        self.number(number);
        self.check(name, range.least <= *number && *number <= range.most, range.text);
    }

    /// A field of 32 bits with a name and a range.
    #[inline(never)]
    pub fn field32(&mut self, name: &'static str, number: &mut u32, range: &'static Range) {
        let mut read = u64::from(*number);
        self.field(name, &mut read, range);
        *number = read as u32;
    }

    /// Notes that a field is out of range, if it is.
    #[inline(never)]
    pub fn check(&mut self, name: &'static str, valid: bool, text: &'static str) {
        if !valid {
            self.faults.push((name, text));
        }
    }
}

//! A value as a list of numbers, written and read by one description.
//!
//! A description goes over the numbers that make up a value, in order, and shows each to a [`Form`]. A form that writes
//! takes them down; a form that reads replaces them. So writing and reading cannot disagree. Either form judges the ranges
//! that the description gives.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use crate::contract::{PolicyFault, Text};

/// The numbers that a field may be.
pub struct Range {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
    /// The same in words.
    pub text: &'static str,
}

impl Range {
    /// Whether a number is one of them.
    pub fn holds(&self, number: u64) -> bool {
        self.least <= number && number <= self.most
    }
}

/// Writes the numbers of a value, or reads them into it.
pub struct Form<'a> {
    numbers: Numbers<'a>,
    sound: bool,
    faults: Vec<PolicyFault>,
}

/// Numbers in postcard's form: 7 bits a byte, so that small ones are short.
enum Numbers<'a> {
    Written(Vec<u8>),
    ToRead(&'a [u8]),
}

impl<'a> Form<'a> {
    /// A form that writes behind what is there.
    pub fn writing(bytes: Vec<u8>) -> Form<'a> {
        Form { numbers: Numbers::Written(bytes), sound: true, faults: Vec::new() }
    }

    /// A form that reads.
    pub fn reading(bytes: &'a [u8]) -> Form<'a> {
        Form { numbers: Numbers::ToRead(bytes), sound: true, faults: Vec::new() }
    }

    /// Whether it reads.
    pub fn reads(&self) -> bool {
        matches!(self.numbers, Numbers::ToRead(_))
    }

    /// What has been written.
    pub fn into_bytes(self) -> Vec<u8> {
        match self.numbers {
            Numbers::Written(bytes) => bytes,
            Numbers::ToRead(_) => Vec::new(),
        }
    }

    /// The fields that were out of range.
    pub fn into_faults(self) -> Vec<PolicyFault> {
        self.faults
    }

    /// Whether all that was read can be so.
    pub fn is_sound(&self) -> bool {
        self.sound && self.faults.is_empty()
    }

    /// Whether all has been read.
    pub fn is_at_end(&self) -> bool {
        matches!(self.numbers, Numbers::ToRead([]))
    }

    /// Notes whether what was read can be so.
    pub fn demand(&mut self, sound: bool) {
        self.sound &= sound;
    }

    /// A number.
    #[inline(never)]
    pub fn number(&mut self, number: &mut u64) {
        match &mut self.numbers {
            Numbers::Written(bytes) => write(*number, bytes),
            Numbers::ToRead(bytes) => match read(bytes) {
                Some(read) => *number = read,
                None => self.sound = false,
            },
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
        read.min(last.into()) as u32
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
    pub fn field(&mut self, name: &str, number: &mut u64, range: &Range) {
        self.number(number);
        self.check(name, range.holds(*number), range.text);
    }

    /// A field of 32 bits with a name and a range.
    #[inline(never)]
    pub fn field32(&mut self, name: &str, number: &mut u32, range: &Range) {
        let mut read = u64::from(*number);
        self.field(name, &mut read, range);
        *number = read as u32;
    }

    /// Notes that a field is out of range, if it is.
    #[inline(never)]
    pub fn check(&mut self, name: &str, valid: bool, text: &str) {
        if !valid {
            self.faults.push(PolicyFault { field: Text::from(name), why: Text::from(text) });
        }
    }
}

fn write(number: u64, bytes: &mut Vec<u8>) {
    if let Ok(more) = postcard::to_extend(&number, mem::take(bytes)) {
        *bytes = more;
    }
}

fn read(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = postcard::take_from_bytes(bytes).ok()?;
    *bytes = rest;
    Some(number)
}

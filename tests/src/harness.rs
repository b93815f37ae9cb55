//! A test harness for files whose binary plays other roles too, or whose tests are not known before it runs.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// A test: its name, and what panics when it fails.
pub type Test = (&'static str, fn());

/// The tests of a file, by the names of their functions and, where they have some, of their modules.
#[macro_export]
macro_rules! tests {
    ($($($part:ident)::+),+ $(,)?) => {
        [$((stringify!($($part)::+), $($part)::+ as fn())),+]
    };
}

/// Runs tests as `cargo test` would.
pub fn run(tests: impl IntoIterator<Item = Test>) -> ExitCode {
    run_where(true, tests)
}

/// Runs tests where what they need is there; elsewhere they are shown as ignored.
pub fn run_where(is_there: bool, tests: impl IntoIterator<Item = Test>) -> ExitCode {
    let trial = |(name, test): Test| {
        // As it was written: the compiler puts spaces around the colons.
        let name = name.replace(char::is_whitespace, "");
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(!is_there)
    };
    libtest_mimic::run(&Arguments::from_args(), tests.into_iter().map(trial).collect()).exit_code()
}

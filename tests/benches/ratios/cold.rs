//! The program in front of a command that does nothing.

use std::process::{Command, Stdio};
use std::time::Instant;

use halfopen_tests::program::program;

use crate::measure::{Effort, in_turn};
use crate::setting;
use crate::table::{Goal, Row, Rows};

pub fn rows(effort: Effort) -> Rows {
    let rounds = effort.rounds(200);
    let folder = setting::folder()?;
    let mut through = Command::new(program());
    through
        .args(["run", "payments", "--", "true"])
        .env("HALFOPEN_STORE", format!("sqlite:{}", folder.path().join("breakers.db").display()))
        // Compiled code is kept here; the warm-up writes it.
        .env("XDG_CACHE_HOME", folder.path());
    let mut bare = Command::new("true");
    let measured = in_turn(rounds, &mut [&mut || millis(&mut through), &mut || millis(&mut bare)]);
    let (through, bare) = (measured.median(0), measured.median(1));
    let note = format!("{through:.2} ms through halfopen, {bare:.2} ms bare; n = {rounds}");
    Ok(vec![Row::alone("cold", "ms", Goal::OursAtMost(10.0), measured.difference(0, 1), note)])
}

fn millis(command: &mut Command) -> f64 {
    let begun = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("the command does not start");
    let took = begun.elapsed();
    assert!(status.success(), "{command:?} ended with {status}");
    took.as_secs_f64() * 1e3
}

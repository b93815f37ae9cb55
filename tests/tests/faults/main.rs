//! What goes wrong with a SQLite file: every operation on it, the room for it, the rights to it, other programs, damage.

mod damage;
mod injected;
mod room;
mod surroundings;
mod vfs;

use std::process::ExitCode;

use halfopen_tests::process::play;
use halfopen_tests::{harness, tests};

use self::damage::*;
use self::injected::*;
use self::room::*;
use self::surroundings::*;

fn main() -> ExitCode {
    play(&[("writer", room::writer), ("visitor", surroundings::visitor)]);
    harness::run(tests![
        a_commit_that_failed_is_never_reported_as_done_and_one_reported_is_done,
        a_file_whose_making_failed_can_be_made_afterwards,
        of_many_reports_at_once_exactly_the_acknowledged_ones_count,
        a_full_disk_and_a_failing_one_are_told_apart,
        where_files_may_grow_no_further_writes_fail_until_they_may,
        on_a_full_disk_writes_fail_until_there_is_room,
        while_another_program_writes_reads_go_on_and_writes_fail_in_time,
        a_failure_of_a_call_while_another_program_writes_is_counted_when_it_is_done,
        a_write_waits_for_another_program_that_is_soon_done,
        a_file_that_another_program_keeps_to_itself_is_unavailable_until_it_lets_go,
        a_file_or_folder_without_the_right_to_write_is_refused,
        a_path_that_is_no_file_is_refused,
        a_folder_that_is_removed_and_made_again_is_used_again,
        random_damage_is_an_error_and_never_a_panic,
        a_file_cut_short_is_an_error_and_never_a_panic,
        a_file_that_is_no_database_is_left_as_it_is,
        a_database_of_another_program_is_left_as_it_is,
        a_database_of_a_later_release_is_left_as_it_is,
    ])
}

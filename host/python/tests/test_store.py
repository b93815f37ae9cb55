"""The file: the same as the Rust side's, checked before it is used, and left alone where it is not ours."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from halfopen import (
    Breakers,
    InvalidArgument,
    StoreCorrupt,
    StoreDenied,
    StoreNewer,
    StoreUnavailable,
)
from support import PLAIN, admitted, ask_program, trip


def schema(file: Path) -> list[tuple[str, ...]]:
    with sqlite3.connect(file) as connection:
        found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").fetchall()
        pragmas = ("user_version", "application_id", "journal_mode", "page_size", "encoding", "auto_vacuum")
        found += [(name, connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in pragmas]
    connection.close()
    return found


def test_the_file_is_made_in_the_very_same_way_as_by_the_program(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs.db", tmp_path / "ours.db"
    ask_program(theirs, "reset", "payments")
    Breakers(ours).close()
    assert schema(ours) == schema(theirs)


def test_commits_wait_for_the_disk_unless_told_otherwise(file: Path) -> None:
    for synchronous, level in (("full", 2), ("normal", 1)):
        with Breakers(file, synchronous=synchronous) as breakers:  # type: ignore[arg-type]
            with breakers.room.store.transaction() as transaction:
                pragma = "PRAGMA synchronous"
                assert transaction.run(lambda connection: connection.execute(pragma).fetchone()) == (level,)  # noqa: B023


def test_a_newer_schema_is_left_alone(file: Path) -> None:
    Breakers(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 77")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreNewer, match="schema 77"):
        Breakers(file)
    assert file.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreDenied, match="another program"):
        Breakers(file)
    assert file.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(file: Path) -> None:
    file.write_text("this is a text and no database\n" * 100)
    with pytest.raises(StoreCorrupt, match="not a SQLite database"):
        Breakers(file)
    assert file.read_text().startswith("this is a text")


def test_folders_and_missing_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(StoreDenied, match="is a folder"):
        Breakers(tmp_path)
    with pytest.raises(StoreUnavailable, match="create it"):
        Breakers(tmp_path / "missing" / "a.db")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreDenied, match="is not a folder"):
        Breakers(tmp_path / "file" / "a.db")


@pytest.mark.parametrize(
    "address",
    ["", "sqlite:", " ", ":memory:", "MEMORY", "mysql://me:hush@db/x", "postgres:host=x password=hush", "a\0b", 5],
)
def test_an_address_that_names_no_store_says_what_to_give(address: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Breakers(address)
    assert "hush" not in str(caught.value)


def test_a_bare_path_may_hold_a_colon_and_the_path_may_be_an_object(tmp_path: Path) -> None:
    path = tmp_path / "with:colon.db"
    Breakers(str(path)).close()
    assert path.is_file()
    Breakers(path).close()


def test_a_file_that_another_holds_locked_is_unavailable_once_the_time_is_up_and_can_be_read(file: Path) -> None:
    with Breakers(file, policy=PLAIN, busy_timeout=0.05, local_admission=False) as breakers:
        payments = breakers.breaker("payments")
        permit = admitted(payments)
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked for longer than 50 ms"):
            permit.failure()
        assert payments.inspect().state == "closed", "a read waits for no writer, and nothing was done"
        other.execute("ROLLBACK")
        other.close()
        receipt = payments.report(permit.data, "failure")
        assert receipt.applied and receipt.state == "open"


def test_many_may_create_the_file_at_the_same_moment(tmp_path: Path) -> None:
    for round in range(3):
        file = tmp_path / f"{round}.db"
        start, failed = threading.Barrier(8), list[BaseException]()

        def create(
            number: int, file: Path = file, start: threading.Barrier = start, failed: list[BaseException] = failed
        ) -> None:
            start.wait()
            try:
                with Breakers(file) as breakers:
                    breakers.breaker(str(number)).force("open")
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        with Breakers(file) as breakers:
            assert len(breakers.list()) == 8


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file that is open cannot be removed")
def test_a_file_that_was_removed_is_made_anew_and_its_successor_keeps_its_log(file: Path) -> None:
    with Breakers(file, policy=PLAIN, local_admission=False) as breakers:
        trip(breakers.breaker("payments"))
        for name in (file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")):
            name.unlink(missing_ok=True)
        assert breakers.breaker("payments").inspect().state == "closed"
        trip(breakers.breaker("payments"))
        assert '"state":"open"' in ask_program(file, "status", "payments", "--json")


@pytest.mark.skipif(os.geteuid() == 0, reason="this user may write everything")
def test_a_file_that_is_read_only_is_refused(file: Path) -> None:
    Breakers(file).close()
    file.chmod(0o400)
    with pytest.raises(StoreDenied, match="read-only"):
        Breakers(file)


def test_a_row_that_was_never_written_by_us_is_damage(file: Path) -> None:
    with Breakers(file) as breakers:
        breakers.breaker("payments").reset()
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE transition SET to_state = 'ajar'")
        connection.close()
        with pytest.raises(StoreCorrupt, match="ajar"):
            breakers.breaker("payments").history()


def test_a_damaged_record_is_named_and_can_be_reset_or_forgotten(file: Path) -> None:
    with Breakers(file) as breakers:
        for name in ("a", "b"):
            breakers.breaker(name).reset()
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE record SET data = x'ff00ff'")
        connection.close()
        with pytest.raises(StoreCorrupt, match='record of "a"'):
            breakers.breaker("a").acquire()
        assert breakers.breaker("a").reset().applied
        assert breakers.breaker("b").forget().applied
        assert breakers.breaker("b").inspect().state == "closed"


def test_the_history_is_bounded_and_ends_with_the_newest(file: Path) -> None:
    with Breakers(file, history=3) as breakers:
        for _ in range(10):
            breakers.breaker("payments").reset()
        found = breakers.breaker("payments").history()
        assert [one.epoch for one in found] == [8, 9, 10]
        assert [one.epoch for one in breakers.breaker("payments").history(limit=1)] == [10]


def test_versions_never_repeat_after_a_removal(file: Path) -> None:
    with Breakers(file, policy=PLAIN, local_admission=False) as breakers:
        payments = breakers.breaker("payments")
        out = admitted(payments).hand_on()
        for remove in (payments.forget, breakers.remove_namespace, lambda: breakers.prune(0)):
            remove()
            assert payments.report(out, "failure").stale is not None
            out = admitted(payments).hand_on()
            payments.report(out, "success")


def test_prune_removes_what_nobody_uses_and_keeps_the_rest(file: Path) -> None:
    with Breakers(file, policy=PLAIN, local_admission=False) as breakers:
        admitted(breakers.breaker("idle")).success()
        breakers.breaker("configured").configure({"open_ms": 7})
        trip(breakers.breaker("open"))
        assert breakers.breaker("idle").prune(3_600) is False
        pruned = breakers.prune(0)
        assert (pruned.removed, pruned.kept) == (1, 2)
        assert breakers.list() == ["configured", "open"]


def test_namespaces_see_nothing_of_each_other(file: Path) -> None:
    with Breakers(file, policy=PLAIN) as one, Breakers(file, policy=PLAIN, namespace="two") as two:
        trip(one.breaker("payments"))
        assert two.breaker("payments").inspect().state == "closed"
        assert two.list() == []


def test_the_stream_shows_what_all_processes_bring_about(file: Path) -> None:
    with Breakers(file, policy=PLAIN) as breakers, Breakers(file, policy=PLAIN, namespace="other") as other:
        stream = breakers.transitions(timeout=0.2)
        ask_program(file, "force", "payments", "open")
        other.breaker("elsewhere").reset()
        breakers.breaker("mail").reset()
        seen = [(one.dependency, one.transition.to_state, one.transition.reason) for one in stream]
        assert seen == [("payments", "open", "forced"), ("mail", "closed", "reset")]

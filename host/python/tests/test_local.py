"""What is answered from memory, and how what is counted there reaches the store."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from halfopen import Breaker, Breakers, Deferral, Permit
from halfopen.clock import ManualClock
from support import PLAIN, admitted, finished, python, trip

NEVER = PLAIN | {"consecutive_failures": 0, "failure_rate": None}


class Asked:
    """Counts how often the store is looked at."""

    def __init__(self, breakers: Breakers, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks = 0
        room = breakers.room
        perform = room.perform

        def counting(op):  # type: ignore[no-untyped-def]
            self.looks += 1
            return perform(op)

        monkeypatch.setattr(room, "perform", counting)

    def since(self) -> int:
        looks, self.looks = self.looks, 0
        return looks


def counted(file: Path) -> tuple[int, int]:
    """What another process sees."""
    with Breakers(file, policy=NEVER) as other:
        seen = other.breaker("a").inspect()
        return seen.calls, seen.failures


def succeed(breaker: Breaker) -> None:
    admitted(breaker).success()


def test_within_fresh_ms_calls_are_admitted_from_memory_and_handed_over_later(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock(1_000)
    with Breakers(file, policy=NEVER, _clock=clock) as breakers:
        asked, breaker = Asked(breakers, monkeypatch), breakers.breaker("a")
        for _ in range(100):
            succeed(breaker)
        assert asked.since() == 1
        clock.set(1_249)
        succeed(breaker)
        assert asked.since() == 0
        clock.set(1_250)
        succeed(breaker)
        assert asked.since() == 2, "the next look, and what was counted before it"
        assert breaker.inspect().calls == 102


def test_on_a_clock_that_runs_they_are_handed_over_shortly_after_the_end_of_the_look(file: Path) -> None:
    with Breakers(file, policy=NEVER | {"fresh_ms": 50}) as breakers:
        for _ in range(10):
            succeed(breakers.breaker("a"))
        until = time.monotonic() + 10
        while counted(file) != (10, 0) and time.monotonic() < until:
            time.sleep(0.02)
        assert counted(file) == (10, 0)


def test_a_failure_is_reported_at_once_with_the_successes_before_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Breakers(file, policy=NEVER, _clock=ManualClock(1_000)) as breakers:
        asked, breaker = Asked(breakers, monkeypatch), breakers.breaker("a")
        for _ in range(5):
            succeed(breaker)
        asked.since()
        receipt = admitted(breaker).failure()
        assert receipt is not None and receipt.applied
        assert asked.since() == 1
        seen = breaker.inspect()
        assert (seen.calls, seen.failures, seen.failures_in_row) == (6, 1, 1)


def test_what_is_counted_is_handed_over_at_the_close_and_at_the_end_of_the_process(file: Path) -> None:
    with Breakers(file, policy=NEVER) as breakers:
        succeed(breakers.breaker("a"))
    assert counted(file) == (1, 0)
    script = """
        import sys
        from halfopen import Breakers
        kept = Breakers(sys.argv[1], policy={"consecutive_failures": 0, "failure_rate": None, "fresh_ms": 60_000})
        for _ in range(7):
            kept.breaker("a").acquire().success()
    """
    finished(python(script, file))
    assert counted(file) == (8, 0)


def test_a_refusal_from_memory_says_what_is_left(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock(1_000)
    with Breakers(file, policy=PLAIN | {"open_ms": 300}, _clock=clock) as breakers:
        asked, breaker = Asked(breakers, monkeypatch), breakers.breaker("a")
        admitted(breaker).failure()
        first = breaker.acquire()
        assert isinstance(first, Deferral) and first.retry_after_ms == 300
        asked.since()
        clock.set(1_100)
        second = breaker.acquire()
        assert isinstance(second, Deferral) and (second.retry_after_ms, second.fresh_for_ms) == (200, 150)
        assert asked.since() == 0
        clock.set(1_300)
        assert admitted(breaker).is_probe, "no longer than the open window"


def test_what_this_process_learns_it_acts_on_at_once(file: Path) -> None:
    with Breakers(file, policy=PLAIN) as breakers:
        breaker = breakers.breaker("a")
        succeed(breaker)
        breaker.force("open", note="maintenance")
        assert isinstance(breaker.acquire(), Deferral)
        breaker.reset()
        succeed(breaker)
        with Breakers(file, policy=PLAIN) as other:
            other.breaker("a").force("open")
        assert breaker.inspect().state == "open"
        assert isinstance(breaker.acquire(), Deferral), "also by looking"


def test_a_success_of_an_older_epoch_is_found_stale(file: Path) -> None:
    with Breakers(file, policy=PLAIN) as breakers:
        breaker = breakers.breaker("a")
        permit = admitted(breaker)
        trip(breakers.breaker("a"))
        receipt = permit.success()
        assert receipt is not None and receipt.stale == "old-epoch"


def test_a_clock_that_steps_back_ends_the_look(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock(1_000)
    with Breakers(file, policy=NEVER, _clock=clock) as breakers:
        asked, breaker = Asked(breakers, monkeypatch), breakers.breaker("a")
        succeed(breaker)
        asked.since()
        clock.set(900)
        succeed(breaker)
        assert asked.since() > 0


def test_a_process_that_was_frozen_looks_again_by_whichever_clock_moved(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Frozen:
        runs = False
        wall = mono = 1_000

        def now(self) -> int:
            return self.wall

        def monotonic(self) -> int:
            return self.mono

    clock = Frozen()
    with Breakers(file, policy=NEVER, _clock=clock) as breakers:
        asked, breaker = Asked(breakers, monkeypatch), breakers.breaker("a")
        for name in ("wall", "mono"):
            succeed(breaker)
            asked.since()
            setattr(clock, name, getattr(clock, name) + 249)
            succeed(breaker)
            assert asked.since() == 0
            setattr(clock, name, getattr(clock, name) + 1)
            succeed(breaker)
            assert asked.since() > 0


def test_during_a_ramp_it_draws_with_the_percentage_it_was_given(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock(1_000)
    with Breakers(file, policy=PLAIN | {"ramp": {"over_ms": 100_000, "from_percent": 20}}, _clock=clock) as breakers:
        breaker = breakers.breaker("a")
        admitted(breaker).failure()
        clock.set(1_200)
        admitted(breaker).success()
        asked = Asked(breakers, monkeypatch)
        answers = [breaker.acquire() for _ in range(2_000)]
        admits = sum(isinstance(answer, Permit) for answer in answers)
        assert 300 < admits < 500
        assert {answer.reason for answer in answers if isinstance(answer, Deferral)} == {"ramping"}
        assert asked.since() < 20


@pytest.mark.parametrize("how", ["fresh_ms", "local_admission"])
def test_switched_off_every_call_asks_and_every_outcome_is_written(
    file: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    policy = NEVER | ({"fresh_ms": 0} if how == "fresh_ms" else {})
    with Breakers(file, policy=policy, local_admission=how == "fresh_ms") as breakers:
        asked, breaker = Asked(breakers, monkeypatch), breakers.breaker("a")
        for _ in range(3):
            receipt = admitted(breaker).success()
            assert receipt is not None and receipt.applied
        assert asked.since() == 6


def test_who_must_know_asks(file: Path) -> None:
    with Breakers(file, policy=PLAIN) as one, Breakers(file, policy=PLAIN) as other:
        breaker = one.breaker("a")
        succeed(breaker)
        other.breaker("a").force("open")
        succeed(breaker)
        assert isinstance(breaker.acquire_fresh(), Deferral)
        assert isinstance(breaker.acquire(), Deferral), "and the others go by its answer"


def test_what_the_store_does_not_take_stays_counted(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Breakers(file, policy=NEVER, busy_timeout=0.01) as breakers:
        breaker = breakers.breaker("a")
        for _ in range(3):
            succeed(breaker)
        with Breakers(file) as other, other.room.store.transaction():
            breakers.room.hand_over(breakers.room.local("a"))  # type: ignore[arg-type]
        assert breaker.inspect().calls == 3


def test_a_stream_of_ever_new_names_does_not_fill_the_memory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfopen.room._MOST_LOCALS", 10)
    with Breakers("memory") as breakers:
        for number in range(50):
            assert breakers.room.local(str(number)) is not None
        assert len(breakers.room._locals) == 10

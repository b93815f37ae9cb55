"""Prints what a call costs: `python bench [SECONDS]`, so many for each row. Each row is a median, in microseconds.

What goes to a disk is compared with a bare transaction of sqlite3 on the same disk, taken in turn with it.
"""

import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from halfopen import Breaker, Breakers, Permit, ops
from halfopen.instance import Snapshot

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
NEVER_TRIPS = {"consecutive_failures": 0, "failure_rate": None}


def timed(work: Callable[[], object], times: int) -> float:
    """Microseconds a call, over so many calls."""
    begun = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begun) / times * 1e6


def in_turn(*works: Callable[[], object], times: int = 1) -> list[float]:
    """The median of each, taken in turn, so that what else the machine does meets all alike."""
    rounds: list[list[float]] = []
    until = time.perf_counter() + SECONDS * len(works)
    while len(rounds) < 5 or time.perf_counter() < until:
        rounds.append([timed(work, times) for work in works])
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def row(what: str, took: float, peer: float | None = None) -> None:
    print(f"{what:<58} {took:>9.1f} µs" + ("" if peer is None else f"   x{took / peer:.3f} of the bare transaction"))


def full_call(breaker: Breaker) -> Callable[[], object]:
    def call() -> object:
        permit = breaker.acquire()
        assert isinstance(permit, Permit)
        return permit.success()

    return call


def guarded(breaker: Breaker) -> Callable[[], object]:
    def call() -> None:
        with breaker.guard():
            pass

    return call


def grow(call: Callable[[], object]) -> None:
    """Lets the log of a file grow to the size that it keeps: a log that grows costs the file system far more."""
    for _ in range(1_500):
        call()


def bare_transaction(folder: Path) -> Callable[[], object]:
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("CREATE TABLE bare (name TEXT PRIMARY KEY, version INTEGER, data BLOB) WITHOUT ROWID")
    connection.execute("INSERT INTO bare VALUES ('payments', 0, ?)", (bytes(40),))

    def call() -> None:
        connection.execute("SELECT version, data FROM bare WHERE name = 'payments'").fetchone()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE bare SET version = version + 1, data = ? WHERE name = 'payments'", (bytes(40),))
        connection.execute("COMMIT")

    connection.execute("PRAGMA synchronous = normal")
    grow(call)
    connection.execute("PRAGMA synchronous = full")
    return call


def cold_start(cache: str) -> float:
    """Milliseconds from the start of a process to its first answer."""
    script = "from halfopen import Breakers; Breakers('memory').breaker('a').acquire()"
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    return (time.perf_counter() - begun) * 1e3


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asks = Breakers(folder / "asks.db", policy=NEVER_TRIPS, local_admission=False)
        always = asks.breaker("payments")
        always.reset()
        with Breakers(folder / "asks.db", policy=NEVER_TRIPS, local_admission=False, synchronous="normal") as hasty:
            grow(full_call(hasty.breaker("payments")))
        local = Breakers(folder / "local.db", policy=NEVER_TRIPS).breaker("payments")
        permit = always.acquire()
        assert isinstance(permit, Permit)
        permit.success()
        room = asks.room
        view: Snapshot = room.store.load("default", "payments")
        acquire = ops.acquire("payments", "bench")
        report = ops.report("payments", permit.data, "success", 1)
        component, component_report, read = in_turn(
            lambda: room.decide(acquire, view), lambda: room.decide(report, view), always.acquire
        )
        row("the component alone: acquire", component)
        row("the component alone: report", component_report)
        row("acquire that asks, on a file", read)
        durable, bare = in_turn(full_call(always), bare_transaction(folder))
        row("a bare transaction of sqlite3, durable", bare)
        row("acquire and report, both ask, durable", durable, bare)
        remembered, with_statement = in_turn(full_call(local), guarded(local), times=100)
        row("acquire and report from memory (the default policy)", remembered, bare)
        row("the same as a `with` statement", with_statement, bare)
        first = cold_start(name)
        rest = statistics.median(cold_start(name) for _ in range(5))
        empty = statistics.median(timed(lambda: subprocess.run([sys.executable, "-c", ""]), 1) for _ in range(5)) / 1e3
        print(f"{'start of a process to its first answer, first time':<58} {first:>9.1f} ms")
        print(f"{'the same, compiled code kept':<58} {rest:>9.1f} ms")
        print(f"{'an empty Python process':<58} {empty:>9.1f} ms")


main()

"""What a process that is killed leaves behind."""

from __future__ import annotations

import time
from pathlib import Path

from halfopen import Breakers, Deferral
from support import PLAIN, admitted, python, trip

PROBER = """
    import sys, time
    from halfopen import Breakers
    payments = Breakers(sys.argv[1], policy={policy!r}).breaker("payments")
    with payments.guard() as permit:
        print(permit.token, flush=True)
        time.sleep(600)
"""

WRITER = """
    import sys
    from halfopen import Breakers
    policy = {"consecutive_failures": 0, "failure_rate": None, "window": {"ms": 600_000}}
    payments = Breakers(sys.argv[1], policy=policy, local_admission=False).breaker("payments")
    while True:
        payments.acquire().failure()
        print("acknowledged", flush=True)
"""


def test_when_a_prober_is_killed_its_lease_expires_and_the_next_one_probes(file: Path) -> None:
    policy = PLAIN | {"lease_ms": 1_500}
    with Breakers(file, policy=policy, local_admission=False) as breakers:
        payments = breakers.breaker("payments")
        trip(payments)
        time.sleep(0.21)
        prober = python(PROBER.format(policy=policy), file)
        assert prober.stdout is not None
        token = int(prober.stdout.readline())
        # For longer than a lease: it is renewed.
        time.sleep(2)
        answer = payments.acquire()
        assert isinstance(answer, Deferral) and answer.reason == "probing"
        prober.kill()
        prober.communicate()
        until = time.monotonic() + 20
        while isinstance(answer, Deferral) and time.monotonic() < until:
            assert answer.retry_after_ms <= 1_500
            time.sleep(answer.retry_after_ms / 1000)
            answer = payments.acquire()
        assert not isinstance(answer, Deferral)
        assert answer.is_probe and answer.token is not None and answer.token > token
        answer.success()
        assert [one.reason for one in payments.history()][-2:] == ["probe-lost", "probe-succeeded"]


def test_killing_writers_loses_nothing_that_was_acknowledged(file: Path) -> None:
    Breakers(file).close()
    acknowledged = started = 0
    for round in range(3):
        writers = [python(WRITER, file) for _ in range(2)]
        for writer in writers:
            assert writer.stdout is not None and writer.stdout.readline() == "acknowledged\n"
        time.sleep(0.1 * round)
        for writer in writers:
            writer.kill()
            assert writer.stdout is not None
            acknowledged += 1 + writer.stdout.read().count("acknowledged\n")
            writer.communicate()
            started += 1
    policy = {"consecutive_failures": 0, "failure_rate": None, "window": {"ms": 600_000}}
    with Breakers(file, policy=policy) as breakers:
        seen = breakers.breaker("payments").inspect()
        assert acknowledged <= seen.failures <= acknowledged + started
        assert seen.failures_in_row == seen.failures
        admitted(breakers.breaker("payments")).success()


def test_a_kill_in_the_middle_of_a_write_leaves_the_file_whole(file: Path) -> None:
    import sqlite3

    Breakers(file).close()
    for delay in (0.02, 0.05, 0.09):
        writer = python(WRITER, file)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay)
        writer.kill()
        writer.communicate()
        connection = sqlite3.connect(file)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()

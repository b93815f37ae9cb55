"""Threads, forks and interrupts."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from halfopen import Breakers, Deferral, Permit
from support import PLAIN, admitted, finished, python, trip

NEVER = {"consecutive_failures": 0, "failure_rate": None, "window": {"ms": 600_000}}


def run_all(work: list[threading.Thread]) -> None:
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()


@pytest.mark.parametrize("local_admission", [True, False])
def test_threads_count_every_outcome_once(file: Path, local_admission: bool) -> None:
    with Breakers(file, policy=NEVER, local_admission=local_admission) as breakers:
        failed: list[BaseException] = []

        def work(number: int) -> None:
            try:
                breaker = breakers.breaker(f"dependency {number % 2}")
                for call in range(20):
                    permit = admitted(breaker)
                    permit.failure() if call % 5 == 0 else permit.success()
            except BaseException as error:
                failed.append(error)

        run_all([threading.Thread(target=work, args=(number,)) for number in range(8)])
        assert failed == []
        for number in range(2):
            seen = breakers.breaker(f"dependency {number}").inspect()
            assert (seen.calls, seen.failures) == (80, 16)


def test_of_threads_that_come_at_the_end_of_an_open_window_one_probes(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    trip(payments)
    time.sleep(0.21)
    start, answers = threading.Barrier(16), []

    def ask() -> None:
        start.wait()
        answers.append(payments.acquire())

    run_all([threading.Thread(target=ask) for _ in range(16)])
    probes = [answer for answer in answers if isinstance(answer, Permit)]
    assert len(answers) == 16 and len(probes) == 1 and probes[0].is_probe
    probes[0].success()


FORK = """
    import os, sys
    from halfopen import Breakers, Permit
    policy = {"consecutive_failures": 0, "failure_rate": None, "window": {"ms": 600_000}, "fresh_ms": 100}
    breakers = Breakers(sys.argv[1], policy=policy)
    payments = breakers.breaker("payments")
    for _ in range(5):
        payments.acquire().success()      # counted in the parent's memory: the children must not hand it over too
    parents = id(breakers.room.store)
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for _ in range(10):
                    payments.acquire().success()
                    payments.acquire().failure()
                assert breakers.room.caller == f"pid {os.getpid()}"
                breakers.close()
                status = 0
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
            finally:
                os._exit(status)
        children.append(child)
    for _ in range(10):
        payments.acquire().failure()
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    seen = payments.inspect()
    print(seen.calls, seen.failures)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_workers_that_are_forked_off_have_connections_and_counts_of_their_own(file: Path) -> None:
    assert finished(python(FORK, file)).split() == [str(5 + 4 * 20 + 10), str(4 * 10 + 10)]


FORK_AMID_CALLS = """
    import os, sys, threading
    from halfopen import Breakers
    breakers = Breakers(sys.argv[1], policy={"consecutive_failures": 0, "failure_rate": None}, local_admission=False)
    payments = breakers.breaker("payments")
    done = threading.Event()
    def work():
        while not done.is_set():
            payments.acquire().success()
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads: thread.start()
    for _ in range(12):
        child = os.fork()
        if child == 0:
            payments.acquire().failure()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    done.set()
    for thread in threads: thread.join()
    print(payments.inspect().failures)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_while_other_threads_are_calling_strands_nobody(file: Path) -> None:
    assert finished(python(FORK_AMID_CALLS, file)) == "12\n"


INTERRUPTED = """
    import sys
    from halfopen import Breakers
    policy = {"consecutive_failures": 0, "failure_rate": None}
    payments = Breakers(sys.argv[1], policy=policy, local_admission=False).breaker("payments")
    payments.acquire()
    caught = 0
    print("ready", flush=True)
    while caught < 30:
        try:
            while True:
                with payments.guard():
                    pass
        except KeyboardInterrupt:
            caught += 1
            print(caught, flush=True)
    print("calls", payments.inspect().calls > 0)
"""


@pytest.mark.skipif(os.name != "posix", reason="there are no such signals here")
def test_no_interrupt_is_lost_and_the_next_call_works(file: Path) -> None:
    process = python(INTERRUPTED, file)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for number in range(30):
        time.sleep(0.011 + 0.0003 * number)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == f"{number + 1}\n"
    # Not left to `communicate`: what was read ahead with the line before is lost to that.
    assert process.stdout.readline() == "calls True\n"
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


def test_a_process_that_ends_while_a_probe_is_out_gives_it_back(file: Path) -> None:
    script = """
        import sys, time
        from halfopen import Breakers
        payments = Breakers(sys.argv[1], policy={"consecutive_failures": 1, "open_ms": 1}).breaker("payments")
        payments.acquire().failure()
        time.sleep(0.01)
        kept = payments.acquire()
        assert kept.is_probe
    """
    process = python(script, file)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    with Breakers(file) as breakers:
        seen = breakers.breaker("payments").inspect()
        assert (seen.state, seen.leases) == ("half-open", ())


def test_breakers_that_are_dropped_without_a_close_hand_over_what_is_counted(file: Path) -> None:
    dropped = Breakers(file, policy=NEVER | {"fresh_ms": 60_000})
    admitted(dropped.breaker("payments")).success()
    del dropped
    with Breakers(file, policy=NEVER) as breakers:
        until = time.monotonic() + 10
        while breakers.breaker("payments").inspect().calls == 0 and time.monotonic() < until:
            time.sleep(0.02)
        assert breakers.breaker("payments").inspect().calls == 1


def test_what_was_closed_says_so(file: Path) -> None:
    breakers = Breakers(file, policy=PLAIN)
    breakers.close()
    breakers.close()
    with pytest.raises(Exception, match="closed"):
        breakers.breaker("payments").acquire()


INTERRUPTED_WHILE_ASKING = """
    import sys, time
    from halfopen import Breakers, Permit
    payments = Breakers(sys.argv[1], local_admission=False).breaker("payments")
    print("ready", flush=True)
    try:
        kept = payments.acquire()
        time.sleep(60)
    except KeyboardInterrupt:
        kept = None
    print("interrupted", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(os.name != "posix", reason="there are no such signals here")
def test_who_is_interrupted_while_asking_leaves_no_lease_behind(file: Path) -> None:
    lease = PLAIN | {"lease_ms": 60_000}
    with Breakers(file, policy=PLAIN, local_admission=False) as breakers:
        payments = breakers.breaker("payments")
        payments.configure(lease)
        trip(payments)
        process = python(INTERRUPTED_WHILE_ASKING, file)
        assert process.stdout is not None and process.stdin is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.21)
        with breakers.room.store.transaction():
            # It waits for the file.
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
        until = time.monotonic() + 20
        answer = payments.acquire()
        while isinstance(answer, Deferral) and time.monotonic() < until:
            time.sleep(0.02)
            answer = payments.acquire()
        assert isinstance(answer, Permit) and answer.is_probe
        answer.success()
        process.communicate("\n", timeout=60)


FORK_AMID_LOOKS = """
    import os, sys, threading
    from halfopen import Breakers
    breakers = Breakers(sys.argv[1], policy={"consecutive_failures": 0, "failure_rate": None}, local_admission=False)
    payments = breakers.breaker("payments")
    def inspect():
        while True:
            payments.inspect()
    def watch():
        for _ in breakers.transitions():
            pass
    for work in (inspect, inspect, watch):
        threading.Thread(target=work, daemon=True).start()
    import halfopen.forks
    halfopen.forks._PATIENCE = 600  # who waits for somebody that waits for it would not be done in time
    for _ in range(3):
        children = []
        for _ in range(8):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    for _ in range(5):
                        payments.acquire().failure()
                    status = 0
                finally:
                    os._exit(status)
            children.append(child)
        for child in children:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    print(payments.inspect().failures, flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_waits_for_nobody_who_looks_and_every_failure_that_a_child_was_told_of_is_counted(file: Path) -> None:
    assert finished(python(FORK_AMID_LOOKS, file)) == "120\n"


FORK_INSIDE = """
    import os, sys, threading
    from halfopen import Breakers, StoreUnavailable
    breakers = Breakers(sys.argv[1], policy={"consecutive_failures": 0, "failure_rate": None}, local_admission=False)
    payments = breakers.breaker("payments")
    def fork():
        with breakers.room.store.transaction():
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    for other in (payments, Breakers("memory").breaker("payments")):
                        try:
                            other.acquire().failure()
                        except StoreUnavailable as error:
                            status = 0 if "forked" in str(error) else 2
                            continue
                        status += 10 * (other is payments)
                finally:
                    os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    payments.acquire().failure()
    print(payments.inspect().failures)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_forked_off_in_the_middle_of_a_write_is_told_not_to_use_the_file(file: Path) -> None:
    assert finished(python(FORK_INSIDE, file)).split() == ["0", "1"]


POOL = """
    import multiprocessing, sys
    from halfopen import Breakers
    policy = {"consecutive_failures": 0, "failure_rate": None, "window": {"ms": 600_000}, "fresh_ms": 60_000}
    if __name__ == "__main__":
        breakers = Breakers(sys.argv[1], policy=policy)
        payments = breakers.breaker("payments")
        payments.acquire().success()
    def work(number):
        payments.acquire().success()
        if number % 5 == 0:
            payments.acquire().failure()
    if __name__ == "__main__":
        context = multiprocessing.get_context("fork")
        pool = context.Pool(8)
        pool.map(work, range(40))
        pool.close()
        pool.join()
        seen = payments.inspect()
        print(seen.calls, seen.failures)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_the_workers_of_a_pool_hand_over_what_they_have_counted_when_it_is_closed(file: Path) -> None:
    assert finished(python(POOL, file)) == "49 8\n"


FORK_WITH_A_PROBE = """
    import gc, os, sys, time
    from halfopen import Breakers
    policy = {"consecutive_failures": 1, "open_ms": 1, "jitter_percent": 0, "lease_ms": 60_000}
    breakers = Breakers(sys.argv[1], policy=policy)
    payments = breakers.breaker("payments")
    payments.acquire().failure()
    time.sleep(0.01)
    probe = payments.acquire()
    child = os.fork()
    if child == 0:
        payments.inspect()
        breakers.room.housekeeper.start()
        del probe
        gc.collect()
        breakers.close()
        os._exit(0)
    os.waitpid(child, 0)
    print(probe.is_probe, probe.success().state)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_that_drops_its_copy_of_a_probe_gives_nothing_back(file: Path) -> None:
    assert finished(python(FORK_WITH_A_PROBE, file)) == "True closed\n"

"""Processes of the Python and of the Rust side share one file: records, policies, history, leases."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from halfopen import Breakers, Deferral, Permit
from support import PLAIN, admitted, ask_program, finished, program, python, trip


def status(file: Path) -> dict[str, Any]:
    return json.loads(ask_program(file, "status", "payments", "--json"))  # type: ignore[no-any-return]


def test_the_program_reads_what_python_wrote(file: Path) -> None:
    with Breakers(file, policy=PLAIN) as breakers:
        payments = breakers.breaker("payments", caller="a Python process")
        trip(payments)
        assert status(file)["state"] == "open"
        payments.configure(PLAIN | {"open_ms": 50})
        shown = json.loads(ask_program(file, "policy", "show", "payments", "--json"))
        assert "50" in json.dumps(shown)
        time.sleep(0.21)
        permit = admitted(payments)
        seen = status(file)
        assert seen["state"] == "half-open"
        assert [(lease["token"], lease["caller"]) for lease in seen["leases"]] == [(permit.token, "a Python process")]
        permit.success()
        payments.force("closed", lasting=60, note="by hand")
        assert status(file)["override"]["note"] == "by hand"
        history = ask_program(file, "history", "payments")
        assert [word for word in ("failure", "probe-due", "probe-succeeded", "forced") if word not in history] == []


def test_python_reads_what_the_program_wrote(file: Path) -> None:
    ask_program(file, "policy", "set", "payments", "open_ms=123", "window={calls=7}", "ramp={over_ms=5,from_percent=1}")
    ask_program(file, "force", "payments", "open", "--lasting", "10m", "--note", "maintenance")
    with Breakers(file) as breakers:
        payments = breakers.breaker("payments")
        policy, its_own = payments.policy()
        assert its_own and policy.open_ms == 123 and policy.window.calls == 7
        assert policy.ramp is not None and policy.ramp.from_percent == 1
        seen = payments.inspect()
        assert seen.override is not None
        assert (seen.override.mode, seen.override.note) == ("open", "maintenance")
        assert 0 < (seen.override.ends_in_ms or 0) <= 600_000
        answer = payments.acquire()
        assert isinstance(answer, Deferral) and answer.reason == "forced-open" and answer.retry_after_ms == 123
        assert [one.reason for one in payments.history()] == ["forced"]
        assert breakers.list() == ["payments"]
        ask_program(file, "forget", "payments")
        assert breakers.list() == []


def test_a_lease_that_the_program_holds_defers_python_and_its_report_lets_python_on(file: Path) -> None:
    with Breakers(file, policy=PLAIN, local_admission=False) as breakers:
        payments = breakers.breaker("payments")
        trip(payments)
        time.sleep(0.21)
        probe = program(file, "run", "payments", "--", "sleep", "1", policy=PLAIN)
        until = time.monotonic() + 20
        while not payments.inspect().leases and time.monotonic() < until:
            time.sleep(0.01)
        answer = payments.acquire()
        assert isinstance(answer, Deferral) and answer.reason == "probing"
        assert probe.wait(30) == 0
        assert payments.inspect().state == "closed"
        assert isinstance(payments.acquire(), Permit)
        probe.communicate()


HERD = """
    import sys, time
    from halfopen import Breakers, Permit
    with Breakers(sys.argv[1], policy={policy!r}) as breakers:
        payments = breakers.breaker("payments")
        print("ready", flush=True)
        sys.stdin.readline()
        time.sleep(max(0, float(sys.argv[2]) - time.time()))
        answer = payments.acquire()
        if isinstance(answer, Permit):
            print("probe" if answer.is_probe else "proceed", flush=True)
            time.sleep(3)
            answer.success()
        else:
            print(answer.reason, flush=True)
"""


def test_of_a_herd_of_python_processes_and_programs_exactly_one_probes(file: Path) -> None:
    policy = PLAIN | {"open_ms": 6_000, "lease_ms": 60_000}
    with Breakers(file, policy=policy) as breakers:
        payments = breakers.breaker("payments")
        trip(payments)
        due = payments.inspect().next_due_ms
        assert due is not None
        herd = [python(HERD.format(policy=policy), file, due / 1000) for _ in range(8)]
        for process in herd:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in herd:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        time.sleep(max(0, due / 1000 - time.time() - 0.05))
        mark = 'test "$HALFOPEN_ROLE" = probe && sleep 3'
        programs = [program(file, "run", "payments", "--", "sh", "-c", mark, policy=policy) for _ in range(8)]
        answers = [finished(process).strip() for process in herd]
        codes = []
        for process in programs:
            process.communicate(timeout=60)
            codes.append(process.returncode)
        probes = answers.count("probe") + codes.count(0)
        deferred = sum(answer in ("open", "probing") for answer in answers) + codes.count(75)
        assert (probes, deferred) == (1, 15), (answers, codes)
        assert payments.inspect().state == "closed"
        assert [one.reason for one in payments.history()][-2:] == ["probe-due", "probe-succeeded"]


def test_a_relative_path_means_the_same_file_after_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Breakers("breakers.db", policy=PLAIN, local_admission=False) as breakers:
        monkeypatch.chdir(tmp_path / "elsewhere")
        trip(breakers.breaker("payments"))
    assert not list((tmp_path / "elsewhere").iterdir())
    with Breakers(tmp_path / "breakers.db") as breakers:
        assert breakers.breaker("payments").inspect().state == "open"

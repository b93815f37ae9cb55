"""`python -m halfopen replay` judges as `halfopen replay` does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from halfopen import Breakers
from halfopen.__main__ import main
from support import PROGRAM, SCENARIOS

CLEAN = {"HALFOPEN_STORE": "memory", "HALFOPEN_POLICY": "", "HALFOPEN_NAMESPACE": "default", "HALFOPEN_COMPONENT": ""}
FIRST = '{"scenario": "s"}'


def replay(*arguments: object, text: str = "") -> tuple[int, str, str]:
    command = [sys.executable, "-m", "halfopen", "replay", *map(str, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=os.environ | CLEAN)
    return done.returncode, done.stdout, done.stderr


def test_files_that_hold_end_with_0_and_show_each_answer() -> None:
    code, out, err = replay(*SCENARIOS[:3])
    assert (code, err) == (0, "")
    assert "line 2: at " in out and out.endswith("3 files: 3 hold, 0 fail\n")


def test_an_expectation_that_does_not_hold_ends_with_1_and_names_file_line_wanted_and_got(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(FIRST + '\n{"at": 0, "do": "acquire", "expect": "probe"}\n')
    code, out, err = replay(wrong)
    assert code == 1
    assert err == f"halfopen: {wrong}: line 2: wanted probe, got proceed; epoch 0\n"
    assert out.endswith("1 file: 0 hold, 1 fail\n")


def test_of_several_files_the_highest_code_counts(tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_text(FIRST + '\n{"at": 0, "do": "acq')
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(FIRST + '\n{"at": 0, "do": "acquire", "expect": "defer"}\n')
    code, out, err = replay(cut, wrong, SCENARIOS[0])
    assert code == 2
    assert f"{cut}: line 2: " in err and "cut" in err
    assert out.endswith("3 files: 1 hold, 1 fail, 1 could not be run\n")


def test_the_other_codes_are_those_of_the_program(tmp_path: Path) -> None:
    assert replay(tmp_path / "missing.jsonl")[0] == 66
    assert replay("--store", "mysql://me:hush@db/x", SCENARIOS[0])[0] == 64
    assert "hush" not in replay("--store", "mysql://me:hush@db/x", SCENARIOS[0])[2]
    assert replay("--store", tmp_path, SCENARIOS[0])[0] == 77
    assert replay()[0] == 64
    assert replay("-", text=FIRST)[0] == 0


def test_a_run_leaves_nothing_in_the_store(file: Path) -> None:
    code, _, err = replay("-q", "--store", f"sqlite:{file}", *SCENARIOS)
    assert code == 0, err
    with Breakers(file) as breakers:
        store = breakers.room.store
        with store.transaction() as transaction:
            left = transaction.run(lambda connection: connection.execute("SELECT * FROM record").fetchall())
    assert left == []


STEPS = [
    "",
    "[]",
    "not json",
    '{"do": "reset"}',
    '{"at": -1, "do": "reset"}',
    '{"at": 1.5, "do": "reset"}',
    '{"at": 5.0, "do": "reset"}',
    '{"at": 1e3, "do": "reset"}',
    '{"at": 1e999, "do": "reset"}',
    '{"at": NaN, "do": "reset"}',
    '{"at": "1", "do": "reset"}',
    '{"at": true, "do": "reset"}',
    '{"at": null, "do": "reset"}',
    '{"at": 18446744073709551615, "do": "reset"}',
    '{"at": 18446744073709551616, "do": "reset"}',
    '{"at": 0, "at": 0, "do": "reset"}',
    '{"at": 0}',
    '{"at": 0, "do": "jump"}',
    '{"at": 0, "do": "reset", "times": 2}',
    '{"at": 0, "do": "inspect", "permit": "A"}',
    '{"at": 0, "do": "acquire", "permit": "A"}',
    '{"at": 0, "do": "renew", "outcome": "success"}',
    '{"at": 0, "do": "acquire", "times": 0}',
    '{"at": 0, "do": "acquire", "times": 1000001}',
    '{"at": 0, "do": "acquire", "expct": "probe"}',
    '{"at": 0, "do": "acquire", "expect": null}',
    '{"at": 0, "do": "acquire", "expect": {}}',
    '{"at": 0, "do": "acquire", "expect": {"probes": 1}}',
    '{"at": 0, "do": "acquire", "expect": {"defer_ms": [2, 1]}}',
    '{"at": 0, "do": "acquire", "expect": {"defer_ms": 1, "probe": 1}}',
    '{"at": 0, "do": "acquire", "expect": {"proceed": [0, 1]}}',
    '{"at": 0, "do": "acquire", "by": "\\ud800"}',
    '{"at": 0, "do": "acquire", "by": "' + "x" * 65 + '", "expect": "error"}',
    '{"at": 0, "do": "acquire", "dependency": "", "expect": "error"}',
    '{"at": 0, "do": "acquire", "dependency": "a\\u0000b", "expect": "error"}',
    '{"at": 0, "do": "report"}',
    '{"at": 0, "do": "report", "outcome": "fine"}',
    '{"at": 0, "do": "report", "outcome": "success"}',
    '{"at": 0, "do": "report", "outcome": "success", "expect": "ok"}',
    '{"at": 0, "do": "tally", "successes": -1}',
    '{"at": 0, "do": "force"}',
    '{"at": 0, "do": "force", "mode": "ajar"}',
    '{"at": 0, "do": "force", "mode": "open", "lasting_ms": 0}',
    '{"at": 0, "do": "configure"}',
    '{"at": 0, "do": "configure", "policy": null}',
    '{"at": 0, "do": "configure", "policy": {"probes": "1"}}',
    '{"at": 0, "do": "configure", "policy": {"probes": -1}, "expect": "error"}',
    '{"at": 0, "do": "configure", "policy": {"open_ms": 0.5}, "expect": "error"}',
    '{"at": 0, "do": "configure", "policy": {"open_ms": 5e3}}',
    '{"at": 0, "do": "configure", "policy": {"open_multiplier": 1e308}, "expect": "error"}',
    '{"at": 0, "do": "configure", "policy": {"failure_rate": "off", "slow_calls": null}}',
    '{"at": 0, "do": "configure", "policy": {"failure_rate": "on"}}',
    '{"at": 0, "do": "configure", "policy": {"failure_rate": {"percent": 50}}}',
    '{"at": 0, "do": "configure", "policy": {"window": {"calls": 10}}}',
    '{"at": 0, "do": "configure", "policy": {"window": {"calls": 10, "ms": 10}}}',
    '{"at": 0, "do": "configure", "policy": {"window": "off"}}',
    '{"at": 0, "do": "configure", "policy": {"window": {}}}',
    '{"at": 0, "do": "configure", "policy": {"lost_probe": "retry"}}',
    '{"at": 0, "do": "configure", "policy": {"lost_probe": 1}}',
    '{"at": 0, "do": "configure", "policy": {"ramp": {"over_ms": 1, "from": 1}}}',
    '{"at": 0, "do": "inspect", "expect": {"epoch": 1}}',
    '{"at": 0, "do": "inspect", "expect": {"probe_due": 0}}',
    '{"at": 0, "do": "inspect", "expect": {"state": "closed", "level": [0, 1], "override": "none"}}',
    '{"at": 0, "do": "inspect", "expect": "error"}',
    '{"at": 0, "do": "restart", "expect": "error"}',
    '{"at": 0, "do": "reset", "expect": "applied"}',
    '{"at": 0, "do": "reset", "state": "shut"}',
    '{"at": 0, "do": "reset", "state": "open"}',
    '{"at": 0, "do": "reset"} {',
    '{"at": 0, "do": "reset", "x": ' + "[" * 200 + "]" * 200 + "}",
]
FIRST_LINES = [
    "",
    "\n\n",
    "{}",
    "[]",
    "\ufeff" + FIRST,
    '{"scenario": 1}',
    '{"scenario": "s", "seeds": 1}',
    '{"scenario": "s", "seed": -1}',
    '{"scenario": "s", "policy": null}',
    '{"scenario": "s", "policy": {"open_msec": 1}}',
    '{"scenario": "s", "policy": {"probes": 0}}',
    '{"scenario": "s", "policy": {"open_ms": 10, "open_max_ms": 5}}',
    '{"scenario": "s", "dependency": "x"}\r',
]
ODD = [f"{FIRST}\n{step}\n" for step in STEPS] + FIRST_LINES


@pytest.mark.parametrize("text", [*ODD, "\udcff", f"{FIRST}\n\udcff"])
def test_an_odd_file_is_judged_as_the_program_judges_it(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    theirs = subprocess.run(
        [PROGRAM, "--store", "memory", "replay", "-q", path], capture_output=True, text=True, env=os.environ | CLEAN
    )
    ours = main(["replay", "-q", "--store", "memory", str(path)])
    said = capsys.readouterr().err
    assert (ours, lines(said)) == (theirs.returncode, lines(theirs.stderr)), f"{said}\n{theirs.stderr}"


def lines(said: str) -> list[str]:
    """Which lines of the file it speaks of."""
    return re.findall(r"odd\.jsonl: (line \d+)", said)

"""What the tests share: files, the program `halfopen`, and other Python processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from halfopen import Breaker, Permit

ROOT = Path(__file__).resolve().parents[3]
SCENARIOS = sorted((ROOT / "tests" / "scenarios").glob("*.jsonl"))
PROGRAM = Path(os.environ.get("HALFOPEN_PROGRAM") or ROOT / "target" / "debug" / "halfopen").resolve()

# Trips at the first failure, and never lengthens anything at random.
PLAIN: dict[str, Any] = {
    "consecutive_failures": 1,
    "open_ms": 200,
    "open_multiplier": 1,
    "jitter_percent": 0,
    "lease_ms": 2_000,
}


def admitted(breaker: Breaker) -> Permit:
    answer = breaker.acquire()
    assert isinstance(answer, Permit), answer
    return answer


def trip(breaker: Breaker) -> None:
    admitted(breaker).failure()
    assert breaker.inspect().state == "open"


def program(file: Path, *arguments: str, policy: dict[str, Any] | None = None) -> subprocess.Popen[str]:
    """Starts the program of the Rust side on the same file."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HALFOPEN_")}
    environment["HALFOPEN_STORE"] = f"sqlite:{file}"
    if policy is not None:
        place = file.with_suffix(".policy.json")
        if not place.exists():
            place.write_text(json.dumps(policy))
        environment["HALFOPEN_POLICY"] = str(place)
    return subprocess.Popen(
        [PROGRAM, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ask_program(file: Path, *arguments: str) -> str:
    process = program(file, *arguments)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def python(script: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """Starts another Python process."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen(command, **options)


def finished(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out

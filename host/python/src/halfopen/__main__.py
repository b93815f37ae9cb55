"""`python -m halfopen`: runs replay files, and says which component this is."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from .component import component_bytes, component_sha256
from .errors import (
    BreakerError,
    ComponentError,
    InvalidArgument,
    StoreCorrupt,
    StoreDenied,
    StoreNewer,
    StoreUnavailable,
)
from .replay import Malformed, Replay, Report, parse

# The exit codes are those of `halfopen replay`: of several files the highest.
HOLDS, FAILED, MALFORMED, USAGE, NO_INPUT = 0, 1, 2, 64, 66

# What else keeps a file from being run, the first that fits.
_OTHERS: tuple[tuple[type[Exception], int], ...] = (
    (Malformed, MALFORMED),
    (OSError, NO_INPUT),
    (InvalidArgument, USAGE),
    (StoreCorrupt, 65),
    (StoreUnavailable, 69),
    (StoreDenied, 77),
    (StoreNewer, 78),
    (ComponentError, 70),
    (BreakerError, 70),
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"halfopen: {message}; --help shows what there is\n")


def main(arguments: list[str] | None = None) -> int:
    """Does what the arguments say, and returns the exit status."""
    parser = _Parser(prog="python -m halfopen", description="halfopen for Python")
    commands = parser.add_subparsers(dest="command", required=True)
    replay = commands.add_parser("replay", help="run replay files", description="Exit status: see tests/scenarios.")
    replay.add_argument("files", nargs="+", metavar="FILE", help="a replay file, or - for the standard input")
    replay.add_argument("--store", help="sqlite:PATH or memory; also from HALFOPEN_STORE, default memory")
    replay.add_argument("-q", "--quiet", action="store_true", help="show no answers")
    commands.add_parser("component", help="show the component that this package carries")
    given = parser.parse_args(arguments)
    if given.command == "component":
        print(f"bytes      {len(component_bytes())}\nsha256     {component_sha256()}")
        return HOLDS
    address = given.store if given.store is not None else os.environ.get("HALFOPEN_STORE") or "memory"
    try:
        return _replay(given.files, address, quiet=given.quiet)
    except BrokenPipeError:
        # Whoever read the answers has seen enough. What is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _replay(files: list[str], address: str, *, quiet: bool) -> int:
    try:
        replay = Replay(address)
    except BreakerError as error:
        return _note(str(error), _code_of(error))
    highest, hold, fail, not_run = HOLDS, 0, 0, 0
    for file in files:
        name = _escaped(file)
        try:
            report = _run(replay, file, name, quiet)
        except (OSError, Malformed, BreakerError) as error:
            why = f"cannot be read: {error.strerror or error}" if isinstance(error, OSError) else str(error)
            not_run += 1
            highest = max(highest, _note(f"{name}: {why}", _code_of(error)))
            continue
        if report.failures:
            fail += 1
            for failure in report.failures:
                highest = max(highest, _note(f"{name}: {failure}", FAILED))
        else:
            hold += 1
    replay.close()
    total = len(files)
    more = f", {not_run} could not be run" if not_run else ""
    print(f"{total} {'file' if total == 1 else 'files'}: {hold} hold, {fail} fail{more}", flush=True)
    return highest


def _run(replay: Replay, file: str, name: str, quiet: bool) -> Report:
    contents = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    scenario = parse(contents)
    if quiet:
        return replay.run(scenario)
    print(f"{name}: {_escaped(scenario.name)}")
    return replay.run(scenario, lambda answer: print(f"  {_escaped(answer)}"))


def _code_of(error: Exception) -> int:
    return next(code for kind, code in _OTHERS if isinstance(error, kind))


def _note(text: str, code: int) -> int:
    # What goes to stderr is to come after the answers that it speaks of.
    sys.stdout.flush()
    print(f"halfopen: {_escaped(text)}", file=sys.stderr)
    return code


def _escaped(text: str) -> str:
    """A text that cannot confuse a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


if __name__ == "__main__":
    sys.exit(main())

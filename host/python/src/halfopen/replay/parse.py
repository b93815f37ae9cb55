"""Reads replay files, strictly: whatever the format does not know is an error with its line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..errors import InvalidArgument
from ..ops import MODES, OUTCOMES
from ..policy import Policy
from ..types import Tally
from .expect import STATES, OfAcquire, OfInspect, of_acquire, of_inspect
from .strict_json import Fields, Wrong, parse_line, quoted, wrong_type

T = TypeVar("T")

STEPS = (
    *("acquire", "report", "tally", "release", "renew", "inspect", "configure", "force", "reset", "forget"),
    "restart",
)
_REPORTS = ("report", "tally", "release", "renew")

# How often a step can be repeated: more is a slip, and would run for hours.
_MOST_TIMES = 1_000_000


class Malformed(Exception):
    """A file that is not a well-formed replay file. Nothing of it was run."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")


@dataclass
class Step:
    """One line after the first."""

    line: int
    at: int
    dependency: str
    by: str
    name: str
    """What it does, as the file names it."""
    state: str | None
    times: int = 1
    keep_as: str = ""
    """Under which name an acquire's permit is remembered."""
    permit: str = ""
    """Whose permit a report is made with."""
    outcome: str = ""
    took_ms: int | None = None
    tally: Tally = field(default_factory=Tally)
    policy: Policy = field(default_factory=Policy)
    mode: str = ""
    lasting_ms: int | None = None
    acquire: OfAcquire | None = None
    """What an acquire step expects."""
    inspect: OfInspect | None = None
    """What an inspect step expects."""
    expect: str | None = None
    """What any other step expects."""


@dataclass
class Scenario:
    """A replay file that has been read; its first policy the component judges when it is run."""

    name: str
    dependency: str
    policy: Policy
    seed: int
    steps: list[Step]


def parse(contents: bytes) -> Scenario:
    """Reads the contents of a file. Raises `Malformed`."""
    try:
        text = contents.decode()
    except UnicodeDecodeError as error:
        number = 1 + contents[: error.start].count(b"\n")
        raise Malformed(number, f"byte {error.start + 1} of the file is not UTF-8") from error
    if not text.strip():
        raise Malformed(1, 'the file is empty; its first line must be {"scenario": "..."}')
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if text.endswith("\n"):
        lines.pop()
    scenario = _at(1, lambda: _first_line(lines[0]))
    for number, line in enumerate(lines[1:], 2):
        scenario.steps.append(_at(number, lambda: _step(number, line, scenario.dependency)))  # noqa: B023
    return scenario


def _at(line: int, read: Callable[[], T]) -> T:
    try:
        return read()
    except Wrong as error:
        raise Malformed(line, str(error)) from error


def _first_line(line: str) -> Scenario:
    if line.startswith("\ufeff"):
        raise Wrong("the file starts with a byte order mark; save it without one")
    fields = Fields("the first line", parse_line(line))
    name = fields.required("scenario", fields.string("scenario"))
    dependency = fields.string("dependency")
    policy = _policy(fields)
    seed = fields.whole("seed")
    fields.finish()
    return Scenario(
        name, "payments" if dependency is None else dependency, policy or Policy(), 1 if seed is None else seed, []
    )


def _policy(fields: Fields) -> Policy | None:
    """The shape of a policy is judged here; whether its numbers are in range the component says."""
    there = "policy" in fields
    value = fields.take("policy")
    if not there:
        return None
    if not isinstance(value, dict):
        raise wrong_type("policy", "an object", value)
    try:
        return Policy.of(value)
    except InvalidArgument as error:
        raise Wrong(f'"policy" is not a policy: {error}') from error


def _step(line: int, text: str, by_default: str) -> Step:
    fields = Fields("a step", parse_line(text))
    at = fields.required("at", fields.whole("at"))
    name = fields.required("do", fields.string("do"))
    if name not in STEPS:
        raise Wrong(f'"do" is {quoted(name)}; it must be one of {", ".join(STEPS)}')
    dependency = fields.string("dependency")
    by = fields.string("by")
    state = fields.word("state", STATES)
    fields.what = f"{'an' if name[0] in 'aei' else 'a'} {name} step"
    step = Step(
        line=line,
        at=at,
        dependency=by_default if dependency is None else dependency,
        by="A" if by is None else by,
        name=name,
        state=state,
    )
    _read_rest(step, fields)
    fields.finish()
    return step


def _read_rest(step: Step, fields: Fields) -> None:
    if step.name == "acquire":
        keep_as = fields.string("as")
        step.keep_as = step.by if keep_as is None else keep_as
        step.acquire = _expectation(fields, of_acquire)
        step.times = _times(fields)
    elif step.name in _REPORTS:
        _read_report(step, fields)
        permit = fields.string("permit")
        step.permit = step.by if permit is None else permit
        step.expect = fields.word("expect", ("applied", "stale", "error"))
        step.times = _times(fields)
    elif step.name == "inspect":
        step.inspect = _expectation(fields, of_inspect)
    else:
        _read_control(step, fields)
        step.expect = fields.word("expect", ("ok", "error")) or "ok"


def _read_report(step: Step, fields: Fields) -> None:
    if step.name == "report":
        step.outcome = fields.required("outcome", fields.word("outcome", OUTCOMES))
        step.took_ms = fields.whole("took_ms")
    elif step.name == "tally":
        step.tally = Tally(**{name: fields.whole(name) or 0 for name in vars(Tally())})


def _read_control(step: Step, fields: Fields) -> None:
    if step.name == "configure":
        step.policy = fields.required("policy", _policy(fields))
    elif step.name == "force":
        step.mode = fields.required("mode", fields.word("mode", MODES))
        step.lasting_ms = fields.whole("lasting_ms")


def _expectation(fields: Fields, read: Callable[[Any], T]) -> T | None:
    there = "expect" in fields
    value = fields.take("expect")
    return read(value) if there else None


def _times(fields: Fields) -> int:
    times = fields.whole("times")
    if times is None:
        return 1
    if not 1 <= times <= _MOST_TIMES:
        raise Wrong(f'"times" is {times}; it must be 1 to 1,000,000')
    return times

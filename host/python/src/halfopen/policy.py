"""What a breaker goes by, and reading it from JSON or TOML."""

from __future__ import annotations

import dataclasses
import difflib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from .errors import InvalidArgument

U32_MAX = (1 << 32) - 1
U64_MAX = (1 << 64) - 1


@dataclass(frozen=True)
class FailureRate:
    """Trip when failures make up `percent` of the window or more."""

    percent: int
    """1 to 100."""
    minimum_calls: int
    """Below so many calls in the window the rate is not judged; 1 to 1,000,000."""


@dataclass(frozen=True)
class SlowCalls:
    """Trip when slow calls make up `percent` of the window or more."""

    slower_than_ms: int
    """A call that took so long or longer is slow; 1 to 2,592,000,000."""
    percent: int
    """1 to 100."""
    minimum_calls: int
    """Below so many calls in the window the rate is not judged; 1 to 1,000,000."""


@dataclass(frozen=True)
class Window:
    """Which outcomes count: those of the last `ms`, or the last so many `calls`. Exactly one of the two is given."""

    ms: int | None = None
    """10 to 86,400,000 and a multiple of 10."""
    calls: int | None = None
    """1 to 1,000."""

    def __post_init__(self) -> None:
        if (self.ms is None) == (self.calls is None):
            raise InvalidArgument("a window has either `ms` or `calls`, and not both")


@dataclass(frozen=True)
class Ramp:
    """Admit calls gradually after probes have closed the breaker."""

    over_ms: int
    """How long the ramp lasts, from the closing; 1 to 2,592,000,000."""
    from_percent: int
    """The percentage of calls admitted at its beginning; 0 to 100."""


@dataclass(frozen=True)
class Policy:
    """What a breaker goes by. A policy that never trips is valid.

    Every `*_ms` is 1 to 2,592,000,000 (30 days) unless said otherwise. The component checks the ranges when the policy
    is used, and names all fields that are wrong.
    """

    consecutive_failures: int = 5
    """Trip after so many failures in a row; 0 to 1,000,000, 0 = off."""
    failure_rate: FailureRate | None = field(default_factory=lambda: FailureRate(50, 20))
    """Trip when failures make up a percentage of the window; none = off."""
    slow_calls: SlowCalls | None = None
    """Trip when slow calls make up a percentage of the window; none = off."""
    window: Window = field(default_factory=lambda: Window(ms=30_000))
    """What the percentages are taken of."""
    open_ms: int = 5_000
    """How long the first open window lasts, before jitter; at most `open_max_ms`."""
    open_multiplier: float = 2.0
    """Each backoff level multiplies the open window by this; 1 to 100."""
    open_max_ms: int = 300_000
    """The longest open window, before jitter."""
    jitter_percent: int = 20
    """Lengthen each open window by a random 0 to so many percent of it; 0 to 100. Also the spread of a deferral."""
    stable_after_ms: int = 60_000
    """Closed for so long, the backoff starts afresh; from 0."""
    lease_ms: int = 5_000
    """How long the lease of a probe lasts unless it is renewed; at most `probe_max_ms`."""
    probe_max_ms: int = 60_000
    """The longest a lease can last with all its renewals."""
    probes: int = 1
    """How many leases may be live at once; 1 to 100."""
    successes_to_close: int = 1
    """How many successful probes close the breaker; 1 to 1,000,000."""
    lost_probe: Literal["reprobe", "reopen"] = "reprobe"
    """What follows when a lease expires without a report."""
    ramp: Ramp | None = None
    """Admit calls gradually after probes have closed the breaker; none = all at once."""
    fresh_ms: int = 250
    """How long a process may act on its last look without asking again; from 0, 0 = it asks every time."""

    @classmethod
    def of(cls, given: Policy | Mapping[str, Any] | None) -> Policy:
        """A policy from one, or from a mapping: a field left out has its default, a nested table is whole, none or
        "off" switches a table off.

        Raises `InvalidArgument` where the shape is wrong. The ranges are for the component to check.
        """
        if given is None:
            return cls()
        if isinstance(given, Policy):
            given = given.to_dict()
        if not isinstance(given, Mapping):
            raise InvalidArgument(f"a policy is a Policy or a mapping, not {kind(given)}")
        _check_fields(cls, given)
        return cls(**{name: _value(name, value) for name, value in given.items()})

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Policy:
        """Reads a JSON file, or, from Python 3.11 on, a TOML file (by its ending).

        Raises `InvalidArgument` with the path and what is wrong.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
            return cls.of(_toml(text) if str(path).endswith(".toml") else json.loads(text))
        except (OSError, ValueError) as error:
            raise InvalidArgument(f"cannot read the policy {path}: {error}") from error

    def to_dict(self) -> dict[str, Any]:
        """The form that policy files have."""
        table = dataclasses.asdict(self)
        if isinstance(self.window, Window):
            table["window"] = {unit: size for unit, size in table["window"].items() if size is not None}
        return table


_TABLES: dict[str, type] = {"failure_rate": FailureRate, "slow_calls": SlowCalls, "ramp": Ramp, "window": Window}


def _toml(text: str) -> Mapping[str, Any]:
    if sys.version_info < (3, 11):
        raise ValueError("this Python reads no TOML; give a JSON file, or use Python 3.11 or later")
    import tomllib

    return tomllib.loads(text)


def _value(name: str, value: Any) -> Any:
    table = _TABLES.get(name)
    if table is not None:
        if isinstance(value, table):
            # Not looked at until now.
            fields = vars(value)
            value = {key: one for key, one in fields.items() if name != "window" or one is not None}
        if name != "window" and (value is None or value == "off"):
            return None
        return _table(name, table, value)
    if name == "lost_probe":
        if value not in ("reprobe", "reopen"):
            raise InvalidArgument(f"`lost_probe` is {value!r}; it must be `reprobe` or `reopen`")
        return value
    if not _is_number(value):
        raise InvalidArgument(f"`{name}` must be a number, got {kind(value)}")
    if name == "open_multiplier":
        return _float(value)
    return lenient(value)


def _table(name: str, table: type, value: Any) -> Any:
    if not isinstance(value, Mapping):
        off = "" if name == "window" else ', null or "off"'
        raise InvalidArgument(f"`{name}` must be a table{off}, got {kind(value)}")
    known = _check_fields(table, value)
    if name == "window":
        if len(value) != 1:
            raise InvalidArgument("`window` has either `ms` or `calls`, and not both")
    else:
        for key in known:
            if key not in value:
                raise InvalidArgument(f"`{name}` lacks `{key}`")
    for key, number in value.items():
        if not _is_number(number):
            raise InvalidArgument(f"`{name}.{key}` must be a number, got {kind(number)}")
    return table(**{key: lenient(number) for key, number in value.items()})


def _check_fields(table: type, given: Mapping[str, Any]) -> list[str]:
    known = [one.name for one in dataclasses.fields(table)]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            raise InvalidArgument(f"unknown field `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))
    return known


def lenient(number: float) -> int:
    """A number that no field holds (negative, fractional, too large) becomes the largest, which is out of every
    range: so the component names it together with all others that are wrong.
    """
    if isinstance(number, int):
        return number if 0 <= number <= U64_MAX else U64_MAX
    return int(number) if 0 <= number < 9e15 and number == int(number) else U64_MAX


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def kind(value: Any) -> str:
    """What kind of value this is, in words that fit behind "got"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, Mapping):
        return "a table"
    return "an array" if isinstance(value, list) else f"a {type(value).__name__}"

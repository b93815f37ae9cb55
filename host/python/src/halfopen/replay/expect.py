"""What a step expects, and how it reads in a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .strict_json import Fields, Wrong, is_whole, quoted, word, wrong_type

KINDS = ("proceed", "probe", "defer")
STATES = ("closed", "open", "half-open")
OVERRIDES = ("none", "forced-open", "forced-closed")
NUMBERS = ("leases", "successes", "level", "calls", "failures", "slow", "failures_in_row")

REFUSED: Literal["error"] = "error"
"""The component refuses."""


@dataclass(frozen=True)
class Amount:
    """A number, or a range with both ends included."""

    low: int
    high: int

    def fits(self, number: int) -> bool:
        """Whether a number is in it."""
        return self.low <= number <= self.high

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"[{self.low}, {self.high}]"


@dataclass(frozen=True)
class DeferFor:
    """Each answer defers for so many ms."""

    amount: Amount

    def __str__(self) -> str:
        return f"defer for {self.amount} ms"


@dataclass(frozen=True)
class Counts:
    """So many answers of each kind; a kind left out is not checked."""

    amounts: dict[str, Amount]

    def __str__(self) -> str:
        return ", ".join(f"{kind} {self.amounts[kind]}" for kind in KINDS if kind in self.amounts)


OfAcquire = str | DeferFor | Counts
OfInspect = dict[str, Any] | Literal["error"]


def amount(key: str, value: Any) -> Amount:
    """Reads a number or a range."""
    wanted = "a whole number or [low, high]"
    if is_whole(value):
        return Amount(value, value)
    if not isinstance(value, list):
        raise wrong_type(key, wanted, value)
    if len(value) != 2 or not all(map(is_whole, value)):
        raise Wrong(f"{quoted(key)} must be {wanted}, with two whole numbers in the brackets")
    low, high = value
    if low > high:
        raise Wrong(f"{quoted(key)} is [{low}, {high}], whose low end is above its high end")
    return Amount(low, high)


def of_acquire(value: Any) -> OfAcquire:
    """Reads what an acquire step expects."""
    if isinstance(value, str):
        return word("expect", value, (*KINDS, REFUSED))
    if not isinstance(value, dict):
        raise wrong_type("expect", "a string or an object", value)
    fields = Fields("the expect of an acquire step", value)
    made: OfAcquire
    if "defer_ms" in fields:
        made = DeferFor(amount("defer_ms", fields.take("defer_ms")))
    else:
        made = Counts({kind: amount(kind, fields.take(kind)) for kind in KINDS if kind in fields})
    fields.finish()
    return made


def of_inspect(value: Any) -> OfInspect:
    """Reads what an inspect step expects: the fields that are compared."""
    if isinstance(value, str):
        word("expect", value, (REFUSED,))
        return REFUSED
    if not isinstance(value, dict):
        raise wrong_type("expect", "an object", value)
    return {key: _field(key, wanted) for key, wanted in value.items()}


def _field(key: str, value: Any) -> Any:
    if key == "state":
        return word(key, value, STATES)
    if key == "override":
        return word(key, value, OVERRIDES)
    if key == "probe_due":
        if not isinstance(value, bool):
            raise wrong_type(key, "true or false", value)
        return value
    if key in NUMBERS:
        return amount(key, value)
    raise Wrong(f"inspect shows no field {quoted(key)}")

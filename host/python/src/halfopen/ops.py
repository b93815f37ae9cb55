"""The exported calls of the component, as values. What no field of the contract can hold is refused here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import convert
from .errors import InvalidArgument, InvalidDependency, shown
from .instance import Op
from .policy import U64_MAX, Policy, kind
from .types import Decision, Inspection, PermitData, Receipt, Tally

T = TypeVar("T")

OUTCOMES = ("success", "failure", "timeout", "ignored")
MODES = ("open", "closed", "none")


def milliseconds(name: str, seconds: float | None) -> int | None:
    """Seconds as whole ms, rounded down. Raises `InvalidArgument` for what is no length of time."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise InvalidArgument(f"`{name}` is a number of seconds, not {kind(seconds)}")
    if not 0 <= seconds <= 1e15:
        raise InvalidArgument(
            f"`{name}` is {number_shown(seconds)} seconds; it must be 0 or more, and less than the age of the universe"
        )
    return int(seconds * 1000)


def number_shown(number: float) -> str:
    """A number as messages show it: Python writes none of thousands of digits."""
    if isinstance(number, float) or abs(number) <= U64_MAX:
        return str(number)
    return f"a number of {number.bit_length()} bits"


def acquire(dependency: str, caller: str) -> Op[Decision]:
    """Asks whether a call may be made."""
    return _op(dependency, "breaker", "acquire", (text("the caller's name", caller),), convert.decision_out)


def report(dependency: str, permit: PermitData, outcome: str, took_ms: int | None) -> Op[Receipt]:
    """Reports an outcome."""
    arguments = (
        _permit(permit),
        _word("outcome", outcome, OUTCOMES),
        None if took_ms is None else _u64("took", took_ms),
    )
    return _op(dependency, "breaker", "report", arguments, convert.receipt_out)


def report_tally(dependency: str, permit: PermitData, tally: Tally) -> Op[Receipt]:
    """Reports many outcomes."""
    if not isinstance(tally, Tally):
        raise InvalidArgument(f"a tally is a Tally, not {kind(tally)}")
    for name, count in vars(tally).items():
        _u64(name, count)
    arguments = (_permit(permit), convert.tally_in(tally))
    return _op(dependency, "breaker", "report-tally", arguments, convert.receipt_out)


def renew(dependency: str, permit: PermitData) -> Op[Receipt]:
    """Renews a lease."""
    return _op(dependency, "breaker", "renew", (_permit(permit),), convert.receipt_out)


def release(dependency: str, permit: PermitData) -> Op[Receipt]:
    """Gives a permit back."""
    return _op(dependency, "breaker", "release", (_permit(permit),), convert.receipt_out)


def inspect(dependency: str) -> Op[Inspection]:
    """Shows a dependency."""
    return _op(dependency, "control", "inspect", (), convert.inspection_out)


def policy(dependency: str) -> Op[tuple[Policy, bool]]:
    """The policy that it goes by, and whether that is its own."""
    return _op(
        dependency,
        "control",
        "policy",
        (),
        lambda found: (convert.policy_out(found.policy), found.origin == "dependency"),
    )


def configure(dependency: str, policy: Policy) -> Op[Receipt]:
    """Gives it a policy of its own."""
    return _op(dependency, "control", "configure", (convert.policy_in(policy),), convert.receipt_out)


def force(dependency: str, mode: str, lasting_ms: int | None, note: str) -> Op[Receipt]:
    """Forces a state, or takes that back."""
    lasting = None if lasting_ms is None else _u64("lasting", lasting_ms)
    arguments = (_word("mode", mode, MODES), lasting, text("the note", note))
    return _op(dependency, "control", "force", arguments, convert.receipt_out)


def reset(dependency: str) -> Op[Receipt]:
    """Closes it, and lets it forget what was."""
    return _op(dependency, "control", "reset", (), convert.receipt_out)


def forget(dependency: str) -> Op[Receipt]:
    """Removes its record."""
    return _op(dependency, "control", "forget", (), convert.receipt_out)


def prune(dependency: str, idle_ms: int) -> Op[bool]:
    """Removes its record if nobody needs it any more."""
    return _op(dependency, "control", "prune", (_u64("idle", idle_ms),), bool)


def _op(dependency: str, interface: str, name: str, arguments: tuple[Any, ...], out: Callable[[Any], T]) -> Op[T]:
    return Op(known_as(dependency), interface, name, arguments, out)


def known_as(dependency: str) -> str:
    """The name, as far as this package judges it."""
    if not isinstance(dependency, str):
        raise InvalidArgument(f"a dependency is a string, not {kind(dependency)}")
    if not _is_unicode(dependency):
        raise InvalidDependency(dependency, "it is not Unicode: it holds half a surrogate pair")
    return dependency


def _permit(permit: PermitData) -> Any:
    if not isinstance(permit, PermitData):
        raise InvalidArgument(f"a permit is a PermitData, not {kind(permit)}")
    _u64("epoch", permit.epoch)
    if permit.lease is not None:
        _u64("lease", permit.lease)
    return convert.permit_in(permit)


def _u64(name: str, number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidArgument(f"`{name}` is a whole number, not {kind(number)}")
    if not 0 <= number <= U64_MAX:
        raise InvalidArgument(f"`{name}` is {number_shown(number)}; it must be 0 to {U64_MAX}")
    return number


def at_least_0(name: str, number: int) -> int:
    """A whole number from 0, however large."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidArgument(f"`{name}` is a whole number, not {kind(number)}")
    if number < 0:
        raise InvalidArgument(f"`{name}` is {number_shown(number)}; it must be a whole number from 0")
    return number


def _word(name: str, word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        raise InvalidArgument(f"`{name}` is {word!r}; it must be one of {', '.join(known)}")
    return word


def text(name: str, text: str) -> str:
    """A string of Unicode."""
    if not isinstance(text, str):
        raise InvalidArgument(f"{name} is a string, not {kind(text)}")
    if not _is_unicode(text):
        raise InvalidArgument(f"{name} {shown(text)} is not Unicode: it holds half a surrogate pair")
    return text


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

"""What can go wrong. Every error of this package is a `HalfopenError`.

A message says what was wrong, where, and what to do. An operation that raises a `BreakerError` has changed nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .types import Deferral


class HalfopenError(Exception):
    """Any error of this package. It may be pickled: worker pools hand errors on that way."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.args, self.__dict__)


class Deferred(HalfopenError):
    """The call was not made, because the breaker defers it. Come back in `retry_after` seconds.

    `retry_after` has the random part already in it, drawn once for this exception.
    """

    def __init__(self, dependency: str, deferral: Deferral) -> None:
        self.dependency = dependency
        self.deferral = deferral
        self.retry_after: float = deferral.retry_after
        super().__init__(dependency, deferral)

    def __str__(self) -> str:
        wait = self.deferral.retry_after_ms
        return f"calls of {shown(self.dependency)} are deferred ({self.deferral.reason}); come back in {wait} ms"


class CallTimedOut(HalfopenError, TimeoutError):
    """The call ran into the time limit and was cut off. It was reported as a timeout. `limit` is in seconds."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        super().__init__(limit)

    def __str__(self) -> str:
        return f"the call ran into its time limit of {self.limit * 1000:.0f} ms"


class BreakerError(HalfopenError):
    """An operation came to nothing. It changed nothing."""


class InvalidDependency(BreakerError):
    """The name is not 1 to 256 bytes of UTF-8 without control characters."""

    def __init__(self, dependency: str, why: str) -> None:
        super().__init__(f"the dependency name {shown(dependency)} is invalid: {why}")


class InvalidPolicy(BreakerError):
    """The policy has fields out of range. `faults` holds all of them, as pairs of field and what is wrong."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        self.faults = tuple(faults)
        super().__init__("the policy is invalid: " + "; ".join(f"{field}: {why}" for field, why in self.faults))


class InvalidArgument(BreakerError, ValueError):
    """Another argument is out of range, or is not of its type."""


class Contended(BreakerError):
    """Others wrote the record each time this operation was about to. Try again."""

    def __init__(self, dependency: str) -> None:
        super().__init__(f"the record of {shown(dependency)} is contended: others wrote it each time; try again")


class NewerRecord(BreakerError):
    """The record was written by a later release. It is left alone."""

    def __init__(self, dependency: str) -> None:
        super().__init__(f"the record of {shown(dependency)} was written by a later release; update this package")


class Closed(BreakerError):
    """The `Breakers` were closed."""

    def __init__(self) -> None:
        super().__init__("these Breakers are closed; make new ones")


class ComponentError(BreakerError):
    """The component cannot be used, or failed. After a failure its instance is replaced: the next call works."""


class StoreError(BreakerError):
    """The store failed. `place` is the store, or the record in it; `why` says what is wrong and what to do."""

    verb = "failed"

    def __init__(self, place: str, why: str) -> None:
        self.place = place
        self.why = why
        super().__init__(f"the store {place} {self.verb}: {why}")


class StoreUnavailable(StoreError):
    """It cannot be reached, is locked, or is full. Trying again later may help."""

    verb = "is not available"


class StoreDenied(StoreError):
    """It refuses: read-only, without the rights, or not a place for a store."""

    verb = "refuses"


class StoreCorrupt(StoreError):
    """What it holds is damaged. A damaged record can be reset or forgotten."""

    verb = "is damaged"


class StoreNewer(StoreError):
    """The file was written by a later release. It is left alone."""

    verb = "is of a later release"


def _remade(kind: type[HalfopenError], args: tuple[Any, ...], fields: dict[str, Any]) -> HalfopenError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


def shown(name: str) -> str:
    """A name as messages show it: quoted, and not endless."""
    quoted = name[:64].encode("utf-8", "backslashreplace").decode()
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in quoted) + '"'

"""The time, as a host reads it."""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol


class Clock(Protocol):
    """What a host tells the time with."""

    runs: bool
    """Whether time passes by itself. Where it does not, what is due is done by whoever comes next."""

    def now(self) -> int:
        """The instant, in ms since the Unix epoch. It may step back."""

    def monotonic(self) -> int:
        """A time in ms that never steps back."""


class SystemClock:
    """The machine's clock."""

    runs = True

    def now(self) -> int:
        """The instant. A machine that believes to be before 1970 has its clock at 0."""
        return max(0, time.time_ns() // 1_000_000)

    def monotonic(self) -> int:
        """The machine's monotonic time."""
        return time.monotonic_ns() // 1_000_000


class ManualClock:
    """A clock that stands still until it is told otherwise. For tests and replays."""

    runs = False

    def __init__(self, now: int = 0) -> None:
        self._now = now
        self._monotonic = 0

    def now(self) -> int:
        """The instant that was set."""
        return self._now

    def monotonic(self) -> int:
        """How far it was moved on in all."""
        return self._monotonic

    def set(self, now: int) -> None:
        """Sets the clock, forwards or backwards; forwards, the monotonic time moves along."""
        self._monotonic += max(0, now - self._now)
        self._now = now


class Sent(NamedTuple):
    """When something was asked for, by both clocks: the machine may have been stopped, or its clock set, since."""

    now: int
    monotonic: int

    @classmethod
    def at(cls, clock: Clock) -> Sent:
        """Now."""
        return cls(clock.now(), clock.monotonic())

    def ago(self, clock: Clock) -> int:
        """How long ago in ms: by whichever clock says more."""
        return max(clock.monotonic() - self.monotonic, clock.now() - self.now, 0)

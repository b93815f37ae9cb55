"""A permit in the hands of a caller."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from . import ops
from .clock import Sent
from .types import Outcome, PermitData, Receipt

if TYPE_CHECKING:
    from .breaker import Breaker


class Permit:
    """A permit, to be settled with the outcome of the call: once.

    Left without a report it is given back, as if ignored; also at the close, and so at the end of the process. A report
    that comes too late is no error: see the receipt. A permit is true, and a `Deferral` is false.
    """

    __slots__ = (
        "__weakref__",
        "_begun",
        "_breaker",
        "_expires_in",
        "_generation",
        "_pid",
        "_sent",
        "_settled",
        "_slower_than",
        "data",
        "percent",
    )

    def __init__(
        self,
        breaker: Breaker,
        data: PermitData,
        sent: Sent,
        *,
        percent: int = 100,
        expires_in: int | None = None,
        slower_than: int | None = None,
        generation: int | None = None,
    ) -> None:
        self._settled = False
        self._breaker = breaker
        self.data = data
        """The permit as plain data. What is reported with that, `breaker.report` takes."""
        self.percent = percent
        """Of further calls within `fresh_ms`, so many percent are admitted: below 100 during a ramp."""
        self._sent = sent
        self._expires_in = expires_in
        self._slower_than = slower_than
        self._generation = generation
        # The copy of a child is not what is left when that drops it.
        self._pid = None if data.lease is None else os.getpid()
        self._begun = time.monotonic()

    def __repr__(self) -> str:
        what = "" if self.data.lease is None else f", token {self.data.lease}"
        return f"<Permit of {self._breaker.dependency!r}: epoch {self.data.epoch}{what}>"

    @property
    def dependency(self) -> str:
        """The dependency."""
        return self._breaker.dependency

    @property
    def is_probe(self) -> bool:
        """Whether it holds a lease: the call is the one that finds out whether the dependency has healed."""
        return self.data.lease is not None

    @property
    def token(self) -> int | None:
        """The token of the lease, for a probe: it only ever rises for a dependency, so it serves as a fencing token."""
        return self.data.lease

    @property
    def expires_in(self) -> float | None:
        """What is left of the lease as it was granted, in seconds; none without one. Renewing does not show here."""
        if self._expires_in is None:
            return None
        return max(0, self._expires_in - self._sent.ago(self._breaker.room.clock)) / 1000

    @property
    def lease_ms(self) -> int | None:
        """How long the lease was when it was granted; none without a lease."""
        return self._expires_in

    @property
    def slower_than(self) -> float | None:
        """A call that takes so many seconds or more is slow; none where slow calls are not told apart."""
        return None if self._slower_than is None else self._slower_than / 1000

    @property
    def settled(self) -> bool:
        """Whether it was reported, given back or taken over."""
        return self._settled

    def success(self) -> Receipt | None:
        """Reports a success that took from when the permit was handed out until now. See `report`."""
        return self.report("success", time.monotonic() - self._begun)

    def failure(self) -> Receipt | None:
        """Reports a failure that took from when the permit was handed out until now. See `report`."""
        return self.report("failure", time.monotonic() - self._begun)

    def timed_out(self) -> Receipt | None:
        """Reports a call that was given up after a time limit. See `report`."""
        return self.report("timeout", time.monotonic() - self._begun)

    def release(self) -> Receipt | None:
        """Gives it back: the call says nothing about the dependency. See `report`."""
        return self.report("ignored")

    def report(self, outcome: Outcome, took: float | None = None) -> Receipt | None:
        """Reports the outcome, and how many seconds the call took where that is known.

        Returns the component's receipt; none where a success was counted in memory, to be handed over later, and where
        an ignored call without a lease needs no word to anybody. Raises `BreakerError`; the permit is settled then too,
        and only one with a lease may be reported again, with `breaker.report(permit.data, ...)`.
        """
        took_ms = ops.milliseconds("took", took)
        report = ops.report(self._breaker.dependency, self.data, outcome, took_ms)
        self._settled = True
        if self.record_in_memory(outcome, took_ms):
            return None
        return self._breaker.record(report, self.data, outcome, self.is_slow(took_ms))

    async def report_async(self, outcome: Outcome, took: float | None = None) -> Receipt | None:
        """`report` for async code: the store is written on another thread. Once begun the report is made, also where
        whoever waits for it is cancelled.
        """
        took_ms = ops.milliseconds("took", took)
        report = ops.report(self._breaker.dependency, self.data, outcome, took_ms)
        self._settled = True
        if self.record_in_memory(outcome, took_ms):
            return None
        slow = self.is_slow(took_ms)
        return await self._breaker.elsewhere(lambda: self._breaker.record(report, self.data, outcome, slow))

    def renew(self) -> Receipt:
        """Renews the lease once. Raises `BreakerError`."""
        return self._breaker.renew(self.data)

    def hand_on(self) -> PermitData:
        """The permit as plain data, for whoever reports in this one's place: nothing happens when it is left."""
        self._settled = True
        return self.data

    def is_slow(self, took_ms: int | None) -> bool:
        """Whether a call that took so long is slow."""
        return self._slower_than is not None and took_ms is not None and took_ms >= self._slower_than

    def record_in_memory(self, outcome: Outcome, took_ms: int | None) -> bool:
        """Whether the outcome needs no word to the store now."""
        room = self._breaker.room
        local = room.local(self._breaker.dependency)
        if local is None or self._generation is None:
            return False
        if outcome == "success":
            if not local.count(self._generation, self.is_slow(took_ms)):
                return False
            room.arm(local)
            return True
        # It counts nowhere; whether it is stale is for the component to say once the look has ended.
        return outcome == "ignored" and local.holds(self._generation, room.clock)

    def __del__(self) -> None:
        # Without a lease, an ignored call counts nowhere and writes nothing.
        if not getattr(self, "_settled", True) and self._pid is not None and self._pid == os.getpid():
            self._breaker.left_behind(self.data)

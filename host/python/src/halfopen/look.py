"""What the component said last of a dependency, for as long as it said."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass

from .clock import Clock, Sent
from .types import Admission, Decision, Deferral, PermitData

# The wait of these ends at an instant, so that less of it is left from call to call. The others are told a length.
_COUNTS_DOWN = ("open", "probing")
_KNOWN = (*_COUNTS_DOWN, "forced-open", "ramping")


@dataclass(frozen=True)
class Look:
    """An answer of `acquire`, as far as it speaks of further calls."""

    admission: Admission | None
    """What calls are admitted under: all of them, or a part of them by drawing."""
    refusal: Deferral | None
    """What the others are deferred with."""
    sent: Sent
    """When it was asked for."""
    fresh_for: int
    """It holds for so many ms from then."""

    @classmethod
    def of(cls, decision: Decision, sent: Sent) -> Look | None:
        """What an answer says of further calls; none where each has to ask."""
        if isinstance(decision, Admission):
            look = cls(decision, None, sent, decision.fresh_for_ms)
        elif isinstance(decision, Deferral) and decision.reason in _KNOWN:
            fresh_for = decision.fresh_for_ms
            if decision.reason in _COUNTS_DOWN:
                # Once the wait is over there is no rest of it to defer with.
                fresh_for = min(fresh_for, decision.retry_after_ms)
            look = cls(decision.admission, decision, sent, fresh_for)
        else:
            return None
        return look if look.fresh_for > 0 else None

    @property
    def epoch(self) -> int | None:
        """The epoch that calls are admitted in, where any are."""
        return None if self.admission is None else self.admission.permit.epoch

    def age(self, clock: Clock) -> int | None:
        """How many ms ago it was asked for, while it holds; none where it no longer does.

        It ends by whichever clock says so first; also when the wall clock has stepped back before it.
        """
        wall = clock.now() - self.sent.now
        age = max(wall, clock.monotonic() - self.sent.monotonic)
        return age if wall >= 0 and age < self.fresh_for else None

    def admits(self) -> bool:
        """Whether it admits one more call: by drawing, where it admits a part of them."""
        if self.admission is None:
            return False
        percent = self.admission.percent
        return percent >= 100 or random.random() * 100 < percent

    def deferral(self, age: int) -> Deferral:
        """The deferral of one further call, with what is left of it by now."""
        left = self.fresh_for - age
        if self.refusal is None:
            # Nothing was said of how long those wait who lose the draw: the next look says more, and they need not all
            # come at once.
            return Deferral(max(1, left), left, "ramping", left, self._admission(left))
        passed = age if self.refusal.reason in _COUNTS_DOWN else 0
        wait = max(1, self.refusal.retry_after_ms - passed)
        return dataclasses.replace(
            self.refusal, retry_after_ms=wait, fresh_for_ms=left, admission=self._admission(left)
        )

    def _admission(self, left: int) -> Admission | None:
        return None if self.admission is None else dataclasses.replace(self.admission, fresh_for_ms=left)

    def permit(self) -> PermitData:
        """What it admits under."""
        assert self.admission is not None
        return self.admission.permit

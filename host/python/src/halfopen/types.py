"""What goes in and comes out. Lengths of time are in milliseconds and instants in milliseconds since the Unix epoch
wherever a name ends in `_ms`; elsewhere lengths of time are in seconds.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

State = Literal["closed", "open", "half-open"]
"""The state of a breaker."""

Mode = Literal["open", "closed", "none"]
"""What an operator forces; `none` takes it back."""

Outcome = Literal["success", "failure", "timeout", "ignored"]
"""How a call ended. A timeout counts as a failure; what is ignored counts nowhere."""


@dataclass(frozen=True)
class PermitData:
    """Entitles its holder to report. Plain data: it may be handed to another thread, process or machine."""

    epoch: int
    """The epoch that the permit was given in; it rises by one at every change of state."""
    lease: int | None = None
    """The token of the lease, for a probe. Tokens only ever rise for a dependency: it serves as a fencing token."""


@dataclass(frozen=True)
class Admission:
    """What calls are admitted under."""

    permit: PermitData
    """What the outcome is reported with."""
    fresh_for_ms: int
    """For so long from when it was asked for a process may admit further calls without asking."""
    percent: int
    """Of those further calls, so many percent: below 100 during a ramp."""
    slower_than_ms: int | None
    """A call that takes so long or longer is slow; none where slow calls are not told apart."""


@dataclass(frozen=True)
class Probe:
    """A probe that was granted."""

    permit: PermitData
    """What the outcome is reported with; it holds the lease."""
    expires_in_ms: int
    """The lease ends so long after it was asked for."""
    slower_than_ms: int | None
    """As for an admission."""


@dataclass(frozen=True)
class Deferral:
    """A call is deferred. Whoever is deferred makes no call."""

    retry_after_ms: int
    """Come back in so long; never 0."""
    spread_ms: int
    """Add a random 0 to so much on top, anew each time, so that callers do not return together."""
    reason: str
    """`open`, `probing`, `forced-open`, `ramping`, or a reason of a later version."""
    fresh_for_ms: int = 0
    """For so long from when it was asked for a process may defer further calls without asking."""
    admission: Admission | None = None
    """During a ramp: what a process may admit further calls with, by drawing."""

    def __bool__(self) -> bool:
        """False, and a permit is true: `if permit := payments.acquire():` reads as it is meant."""
        return False

    @property
    def retry_after(self) -> float:
        """When to come back, in seconds from now: with a random part of the spread, drawn anew each time."""
        return (self.retry_after_ms + random.randint(0, self.spread_ms)) / 1000


Decision = Admission | Probe | Deferral
"""What the component answers to an acquire."""


@dataclass(frozen=True)
class Transition:
    """One change of state, or one lost probe (half-open to half-open, in the same epoch)."""

    from_state: State
    """The state before."""
    to_state: State
    """The state after."""
    at_ms: int
    """The instant."""
    epoch: int
    """The epoch after."""
    reason: str
    """Why, as the contract names it: `consecutive-failures`, `probe-due`, `forced`, ..."""


@dataclass(frozen=True)
class Observed:
    """A transition, and whose it is."""

    dependency: str
    """The dependency."""
    transition: Transition
    """What happened to it."""


@dataclass(frozen=True)
class Receipt:
    """What a report, a renewal, a release or a control came to."""

    stale: str | None
    """Why it changed nothing (`lease-expired`, `old-epoch`, ...); none where it counted."""
    state: State
    """The state after it."""
    next_due_ms: int | None
    """The instant at which the next probe is due; none while closed, and while forced."""
    transitions: tuple[Transition, ...]
    """The changes of state that it brought about, in order."""

    @property
    def applied(self) -> bool:
        """Whether it counted."""
        return self.stale is None


@dataclass(frozen=True)
class Forced:
    """What an operator forced."""

    mode: Mode
    """Open or closed."""
    since_ms: int
    """The instant at which it was set."""
    ends_in_ms: int | None
    """It ends by itself in so long; none: it lasts."""
    note: str
    """The operator's note."""


@dataclass(frozen=True)
class Lease:
    """A live lease."""

    token: int
    """Its token."""
    caller: str
    """Who holds it."""
    expires_in_ms: int
    """It ends in so long."""


@dataclass(frozen=True)
class Inspection:
    """What is known of a dependency. Looking changes nothing and takes no lease."""

    state: State
    """The state."""
    override: Forced | None
    """What an operator forced, while it lasts."""
    probe_due: bool
    """Whether the next acquire would be granted a lease."""
    leases: tuple[Lease, ...]
    """The live leases."""
    successes: int
    """Successful probes since the breaker became half-open."""
    level: int
    """The backoff level of the last opening."""
    calls: int
    """Calls in the window now."""
    failures: int
    """Failures in the window now."""
    slow: int
    """Slow calls in the window now."""
    failures_in_row: int
    """Failures in a row; they do not age."""
    epoch: int
    """The epoch."""
    since_ms: int | None
    """The instant of the last change of state; none where there has been none."""
    next_due_ms: int | None
    """The instant at which the next probe is due; none while closed, and while forced without an end."""


@dataclass(frozen=True)
class Tally:
    """Outcomes of many calls without a lease. The successes came first, plain before slow; then the failures."""

    successes: int = 0
    """Successes that were not slow."""
    slow_successes: int = 0
    """Successes that were slow."""
    failures: int = 0
    """Failures and timeouts that were not slow."""
    slow_failures: int = 0
    """Failures and timeouts that were slow."""


@dataclass(frozen=True)
class Pruned:
    """What pruning came to."""

    removed: int
    """How many records were removed."""
    kept: int
    """How many are still needed."""

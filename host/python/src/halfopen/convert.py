"""The contract's values as wasmtime hands them over, and the types of this package.

wasmtime tells the cases of a variant apart by their Python types where it can, and wraps them in a `Variant` where it
cannot. Which of the two it is follows from the contract, and is written down here.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from wasmtime.component import Record, Variant

from . import errors
from .policy import U32_MAX, FailureRate, Policy, Ramp, SlowCalls, Window, lenient
from .types import (
    Admission,
    Decision,
    Deferral,
    Forced,
    Inspection,
    Lease,
    PermitData,
    Probe,
    Receipt,
    Tally,
    Transition,
)


def record(**fields: Any) -> Record:
    """A record; underscores stand for the dashes of the contract."""
    made = Record()
    for name, value in fields.items():
        setattr(made, name.replace("_", "-"), value)
    return made


def word(value: Any) -> str:
    """A variant that may grow: its case, or the text of `other`."""
    return str(value.payload) if value.tag == "other" else str(value.tag)


def underscored(text: str) -> str:
    """A text of the component's, with the fields of a policy as they are called here."""
    for name in _FIELDS:
        text = re.sub(rf"(?<![\w-]){name}(?![\w-])", name.replace("-", "_"), text)
    return text


_FIELDS = [
    field.name.replace("_", "-")
    for table in (Policy, FailureRate, SlowCalls, Window, Ramp)
    for field in dataclasses.fields(table)
    if "_" in field.name
]


def permit_in(permit: PermitData) -> Record:
    """A permit on its way in."""
    return record(epoch=permit.epoch, lease=permit.lease)


def tally_in(tally: Tally) -> Record:
    """A tally on its way in."""
    return record(**{name: getattr(tally, name) for name in vars(tally)})


def policy_in(policy: Policy) -> Record:
    """A policy on its way in. What a field cannot hold is out of every range, and left to the component to name."""
    rate, slow, ramp, window = policy.failure_rate, policy.slow_calls, policy.ramp, policy.window
    return record(
        consecutive_failures=_u32(policy.consecutive_failures),
        failure_rate=rate and record(percent=_u32(rate.percent), minimum_calls=_u32(rate.minimum_calls)),
        slow_calls=slow
        and record(
            slower_than_ms=lenient(slow.slower_than_ms),
            percent=_u32(slow.percent),
            minimum_calls=_u32(slow.minimum_calls),
        ),
        window=Variant("ms", lenient(window.ms))
        if window.ms is not None
        else Variant("calls", _u32(window.calls or 0)),
        open_ms=lenient(policy.open_ms),
        open_multiplier=float(policy.open_multiplier),
        open_max_ms=lenient(policy.open_max_ms),
        jitter_percent=_u32(policy.jitter_percent),
        stable_after_ms=lenient(policy.stable_after_ms),
        lease_ms=lenient(policy.lease_ms),
        probe_max_ms=lenient(policy.probe_max_ms),
        probes=_u32(policy.probes),
        successes_to_close=_u32(policy.successes_to_close),
        lost_probe=policy.lost_probe,
        ramp=ramp and record(over_ms=lenient(ramp.over_ms), from_percent=_u32(ramp.from_percent)),
        fresh_ms=lenient(policy.fresh_ms),
    )


def _u32(number: float) -> int:
    return min(lenient(number), U32_MAX)


def _get(value: Any, name: str) -> Any:
    return getattr(value, name)


def policy_out(value: Any) -> Policy:
    """A policy on its way out."""
    rate, slow, ramp, window = (_get(value, name) for name in ("failure-rate", "slow-calls", "ramp", "window"))
    return Policy(
        consecutive_failures=_get(value, "consecutive-failures"),
        failure_rate=rate and FailureRate(rate.percent, _get(rate, "minimum-calls")),
        slow_calls=slow and SlowCalls(_get(slow, "slower-than-ms"), slow.percent, _get(slow, "minimum-calls")),
        window=Window(**{window.tag: window.payload}),
        open_ms=_get(value, "open-ms"),
        open_multiplier=_get(value, "open-multiplier"),
        open_max_ms=_get(value, "open-max-ms"),
        jitter_percent=_get(value, "jitter-percent"),
        stable_after_ms=_get(value, "stable-after-ms"),
        lease_ms=_get(value, "lease-ms"),
        probe_max_ms=_get(value, "probe-max-ms"),
        probes=value.probes,
        successes_to_close=_get(value, "successes-to-close"),
        lost_probe=_get(value, "lost-probe"),
        ramp=ramp and Ramp(_get(ramp, "over-ms"), _get(ramp, "from-percent")),
        fresh_ms=_get(value, "fresh-ms"),
    )


def _permit(value: Any) -> PermitData:
    return PermitData(value.epoch, value.lease)


def _admission(value: Any) -> Admission:
    return Admission(_permit(value.permit), _get(value, "fresh-for"), value.percent, _get(value, "slower-than"))


def decision_out(value: Any) -> Decision:
    """The answer to an acquire."""
    case, payload = value.tag, value.payload
    if case == "proceed":
        return _admission(payload)
    if case == "probe":
        return Probe(_permit(payload.permit), _get(payload, "expires-in"), _get(payload, "slower-than"))
    admission = payload.admission
    return Deferral(
        _get(payload, "retry-after"),
        payload.spread,
        word(payload.reason),
        _get(payload, "fresh-for"),
        None if admission is None else _admission(admission),
    )


def transition_out(value: Any) -> Transition:
    """A transition."""
    return Transition(_get(value, "from"), value.to, value.at, value.epoch, word(value.reason))


def receipt_out(value: Any) -> Receipt:
    """A receipt. `applied` has no payload, so it arrives as none."""
    stale = None if value.verdict is None else word(value.verdict)
    return Receipt(stale, value.state, _get(value, "next-due"), tuple(map(transition_out, value.transitions)))


def inspection_out(value: Any) -> Inspection:
    """An inspection."""
    forced = value.override
    return Inspection(
        state=value.state,
        override=forced and Forced(forced.mode, forced.since, _get(forced, "ends-in"), forced.note),
        probe_due=_get(value, "probe-due"),
        leases=tuple(Lease(lease.token, lease.caller, _get(lease, "expires-in")) for lease in value.leases),
        successes=value.successes,
        level=value.level,
        calls=value.calls,
        failures=value.failures,
        slow=value.slow,
        failures_in_row=_get(value, "failures-in-row"),
        epoch=value.epoch,
        since_ms=value.since,
        next_due_ms=_get(value, "next-due"),
    )


def error_out(value: Any, dependency: str) -> errors.BreakerError:
    """What the component's error means to whoever asked about this dependency."""
    case, payload = value.tag, value.payload
    if case == "invalid-dependency":
        return errors.InvalidDependency(dependency, payload)
    if case == "invalid-policy":
        return errors.InvalidPolicy([(underscored(fault.field), underscored(fault.why)) for fault in payload])
    if case == "invalid-argument":
        return errors.InvalidArgument(payload)
    if case == "contended":
        return errors.Contended(dependency)
    if case == "newer-version":
        return errors.NewerRecord(dependency)
    if case == "storage":
        return _STORAGE.get(payload.tag, errors.StoreError)(f"record of {errors.shown(dependency)}", payload.payload)
    return errors.BreakerError(str(payload))


_STORAGE: dict[str, type[errors.StoreError]] = {
    "unavailable": errors.StoreUnavailable,
    "denied": errors.StoreDenied,
    "corrupt": errors.StoreCorrupt,
}

"""Whether an answer fits what is expected, and how it reads."""

from __future__ import annotations

from typing import Any

from ..types import Admission, Decision, Deferral, Inspection, Receipt
from .expect import KINDS, NUMBERS, REFUSED, Amount, Counts, DeferFor, OfAcquire


class Refused:
    """The component refused a call, or failed."""

    def __init__(self, text: str, *, by_component: bool) -> None:
        self.text = text
        self.by_component = by_component
        """Whether it said so, rather than failing itself."""


def kind_of(decision: Decision) -> str:
    """The kind of an answer to an acquire."""
    return KINDS[2 if isinstance(decision, Deferral) else 0 if isinstance(decision, Admission) else 1]


def fits_acquire(expect: OfAcquire | None, answer: Decision | Refused) -> bool:
    """Whether one answer fits; that the numbers of each kind do is judged after all of them."""
    if isinstance(answer, Refused):
        return expect == REFUSED and answer.by_component
    if expect is None or isinstance(expect, Counts):
        return True
    if isinstance(expect, DeferFor):
        return isinstance(answer, Deferral) and expect.amount.fits(answer.retry_after_ms)
    return kind_of(answer) == expect


def fits_report(expect: str | None, answer: Receipt | Refused, *, last: bool) -> bool:
    """Whether one answer to a report fits; what is expected speaks of the last."""
    if isinstance(answer, Refused):
        return expect == REFUSED and answer.by_component
    if expect == REFUSED and last:
        return False
    return not last or expect is None or (expect == "applied") == answer.applied


def compare(key: str, wanted: Any, inspection: Inspection) -> tuple[bool, str, str]:
    """Whether a field of an inspection fits, what was wanted and what was got."""
    got = fields(inspection)[key]
    fits = wanted.fits(got) if isinstance(wanted, Amount) else wanted == got
    return fits, f"{key} {_shown(wanted)}", f"{key} {_shown(got)}"


def fields(inspection: Inspection) -> dict[str, Any]:
    """The fields that replay files know."""
    forced = inspection.override
    return {
        "state": inspection.state,
        "override": "none" if forced is None else f"forced-{forced.mode}",
        "probe_due": inspection.probe_due,
        **{name: getattr(inspection, name) for name in NUMBERS},
        "leases": len(inspection.leases),
    }


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def shown_decision(answer: Decision | Refused) -> str:
    """An answer to an acquire, in words."""
    if isinstance(answer, Refused):
        return answer.text
    if isinstance(answer, Deferral):
        return f"defer for {answer.retry_after_ms} ms; {answer.reason}"
    if isinstance(answer, Admission):
        return f"proceed; epoch {answer.permit.epoch}"
    return f"probe; epoch {answer.permit.epoch}, token {answer.permit.lease}, lease {answer.expires_in_ms} ms"


def shown_receipt(answer: Receipt | Refused) -> str:
    """An answer to a report, in words."""
    if isinstance(answer, Refused):
        return answer.text
    return f"applied; {answer.state}" if answer.applied else f"stale, {answer.stale}; {answer.state}"


def shown_inspection(answer: Inspection | Refused) -> str:
    """An inspection, in words."""
    if isinstance(answer, Refused):
        return answer.text
    return ", ".join(f"{key} {_shown(value)}" for key, value in fields(answer).items())

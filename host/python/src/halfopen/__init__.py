"""A circuit breaker for callers that share a dependency and nothing else.

When the dependency may have healed, exactly one caller probes it, under a lease that expires. Everybody else is told
when to come back. The state machine is the WebAssembly component of halfopen, the same bytes that its other hosts run.

    from halfopen import Breakers, Deferred

    payments = Breakers("breakers.db").breaker("payments")
    try:
        with payments.guard():
            charge()
    except Deferred as deferred:
        come_back_in(deferred.retry_after)
"""

from .breaker import Breaker
from .breakers import Breakers
from .component import component_sha256
from .errors import (
    BreakerError,
    CallTimedOut,
    Closed,
    ComponentError,
    Contended,
    Deferred,
    HalfopenError,
    InvalidArgument,
    InvalidDependency,
    InvalidPolicy,
    NewerRecord,
    StoreCorrupt,
    StoreDenied,
    StoreError,
    StoreNewer,
    StoreUnavailable,
)
from .guard import Guard
from .permit import Permit
from .policy import FailureRate, Policy, Ramp, SlowCalls, Window
from .types import (
    Admission,
    Deferral,
    Forced,
    Inspection,
    Lease,
    Mode,
    Observed,
    Outcome,
    PermitData,
    Pruned,
    Receipt,
    State,
    Tally,
    Transition,
)

__all__ = [
    "Admission",
    "Breaker",
    "BreakerError",
    "Breakers",
    "CallTimedOut",
    "Closed",
    "ComponentError",
    "Contended",
    "Deferral",
    "Deferred",
    "FailureRate",
    "Forced",
    "Guard",
    "HalfopenError",
    "Inspection",
    "InvalidArgument",
    "InvalidDependency",
    "InvalidPolicy",
    "Lease",
    "Mode",
    "NewerRecord",
    "Observed",
    "Outcome",
    "Permit",
    "PermitData",
    "Policy",
    "Pruned",
    "Ramp",
    "Receipt",
    "SlowCalls",
    "State",
    "StoreCorrupt",
    "StoreDenied",
    "StoreError",
    "StoreNewer",
    "StoreUnavailable",
    "Tally",
    "Transition",
    "Window",
    "component_sha256",
]

"""A payment provider fails, is left alone, and is probed by one caller when its time is over.

Run it twice at once, or `halfopen run payments -- true` beside it with the same file: they share the breaker.
"""

import sys
import tempfile
import time
from pathlib import Path

from halfopen import Breakers, Deferred

file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "breakers.db"
provider_is_down = True


def charge(amount: int) -> str:
    """The call that is protected."""
    if provider_is_down:
        raise ConnectionError("the provider does not answer")
    return f"charged {amount}"


with Breakers(file, policy={"consecutive_failures": 3, "open_ms": 300, "jitter_percent": 0}) as breakers:
    payments = breakers.breaker("payments")
    for _ in range(5):
        try:
            with payments.guard(timeout=2):
                print(charge(10))
        except Deferred as deferred:
            print(f"left alone: come back in {deferred.retry_after * 1000:.0f} ms")
            break
        except ConnectionError as error:
            print(f"failed: {error}")

    provider_is_down = False
    time.sleep(0.3)
    with payments.guard() as permit:
        print(f"{'the probe' if permit.is_probe else 'a call'}: {charge(20)}")
    for transition in payments.history():
        print(f"{transition.from_state} -> {transition.to_state}: {transition.reason}")

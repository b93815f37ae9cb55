"""Renews a lease while a probe runs."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from .errors import BreakerError, ComponentError, Contended, StoreError

if TYPE_CHECKING:
    from .breaker import Breaker
    from .types import PermitData

_log = logging.getLogger("halfopen")

# No lease is renewed more often than this, however short it is; in seconds.
_OFTEN = 0.001


class LeaseKeeper:
    """Renews a lease at a third of its length, as that is at each renewal, from a thread of its own, until it is
    stopped or the lease is lost. A renewal that the store fails is tried again at the next third.
    """

    def __init__(self, breaker: Breaker, permit: PermitData, expires_in_ms: int) -> None:
        self.lost: str | None = None
        """Why the lease is lost; none while it is held as far as is known."""
        self._stopped = threading.Event()
        self._breaker = breaker
        self._permit = permit
        every = max(expires_in_ms / 3000, _OFTEN)
        thread = threading.Thread(target=self._keep, args=(every,), name="halfopen-lease", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            # The probe goes on under the lease as it is.
            _log.warning("a lease of %s is not renewed: %s", breaker.dependency, error)

    def stop(self) -> None:
        """Stops. A renewal on its way changes nothing about a lease that has been settled."""
        self._stopped.set()

    def _keep(self, every: float) -> None:
        due = time.monotonic() + every
        while not self._stopped.wait(max(0.0, due - time.monotonic())):
            after = every
            try:
                receipt = self._breaker.renew(self._permit)
            except (StoreError, Contended, ComponentError) as error:
                _log.warning("a lease of %s could not be renewed this time: %s", self._breaker.dependency, error)
            except BreakerError as error:
                _log.warning("a lease of %s is not renewed any more: %s", self._breaker.dependency, error)
                return
            else:
                if not receipt.applied:
                    self.lost = receipt.stale
                    return
                if receipt.next_due_ms is not None:
                    # A renewal can shorten a lease: the policy may have changed since it was granted.
                    left = (receipt.next_due_ms - self._breaker.now()) / 1000
                    after = min(max(left / 3, every / 16), every)
            due = max(due + after, time.monotonic())

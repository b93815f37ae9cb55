"""The state machine: a long-lived instance of the component, replaced when it fails.

wasmtime for Python converts values with the help of global variables, so that two threads must not do it at once: calls
are made one at a time, in all of the process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from .component import code
from .instance import Change, Instance, Op, Refused, Snapshot
from .policy import Policy

T = TypeVar("T")

one_at_a_time = threading.Lock()
"""Held by whoever is calling the component, and while the process forks."""


class Machine:
    """The instance of one `Breakers` in one process."""

    def __init__(self, policy: Policy, now: Callable[[], int], random: Callable[[], int]) -> None:
        self._make: Callable[[], Instance] = lambda: Instance(code(), policy, now, random)
        with one_at_a_time:
            self._instance: Instance | None = self._make()

    def run(self, op: Op[T], view: Snapshot) -> tuple[T, Change | None]:
        """Runs a call on a view of the record. Raises `BreakerError`."""
        with one_at_a_time:
            # Any exception but the component's own answer leaves the instance in no known state.
            instance, self._instance = self._instance or self._make(), None
            try:
                answer = instance.run(op, view)
            except Refused as refused:
                self._instance = instance
                raise refused.error from None
            self._instance = instance
            return answer

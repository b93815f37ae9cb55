"""The state machine: a long-lived instance of the component, replaced when it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from . import offstage
from .component import code
from .instance import Change, Instance, Op, Refused, Snapshot
from .policy import Policy

T = TypeVar("T")


class Machine:
    """The instance of one `Breakers` in one process."""

    def __init__(self, policy: Policy, now: Callable[[], int], random: Callable[[], int]) -> None:
        self._make: Callable[[], Instance] = lambda: Instance(code(), policy, now, random)
        self._instance: Instance | None = offstage.run(self._make)

    def run(self, op: Op[T], view: Snapshot) -> tuple[T, Change | None]:
        """Runs a call on a view of the record. Raises `BreakerError`."""
        try:
            return offstage.run(lambda: self._run(op, view))
        except Refused as refused:
            raise refused.error from None

    def _run(self, op: Op[T], view: Snapshot) -> tuple[T, Change | None]:
        # Any exception but the component's own answer leaves the instance in no known state.
        instance, self._instance = self._instance or self._make(), None
        try:
            answer = instance.run(op, view)
        except Refused:
            self._instance = instance
            raise
        self._instance = instance
        return answer

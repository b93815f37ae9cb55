"""Long-lived instances, lent out one call at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

from . import offstage
from .component import code
from .instance import Change, Instance, Op, Refused, Snapshot
from .policy import Policy

T = TypeVar("T")


class Pool:
    """The instances of one process."""

    def __init__(self, policy: Policy, now: Callable[[], int], random: Callable[[], int]) -> None:
        self._make = lambda: Instance(code(), policy, now, random)
        # More of them than processors get no more done.
        self._free = threading.BoundedSemaphore(2 * max(2, os.cpu_count() or 2))
        # The last returned first: one caller alone always has the same, and its memory is warm.
        self._idle: list[Instance] = [offstage.run(self._make)]

    def run(self, op: Op[T], view: Snapshot) -> tuple[T, Change | None]:
        """Runs a call on an instance; waits while all are lent. Raises `BreakerError`."""
        with self._free:
            try:
                instance = self._idle.pop()
            except IndexError:
                instance = offstage.run(self._make)
            try:
                answer = offstage.run(lambda: instance.run(op, view))
            except Refused as refused:
                self._idle.append(instance)
                raise refused.error from None
            # Any other exception leaves it in no known state, and it is dropped.
            self._idle.append(instance)
            return answer

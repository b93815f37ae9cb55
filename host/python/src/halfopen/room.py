"""What a `Breakers` has in one process: its store, its instances, and what it knows in memory."""

from __future__ import annotations

import itertools
import logging
import os
import random
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import ops
from .clock import Clock
from .errors import BreakerError
from .housekeeper import Housekeeper
from .instance import Change, Op, Snapshot
from .local import Due, Local
from .machine import Machine
from .policy import Policy
from .store import SqliteStore
from .store.rows import Write
from .types import PermitData

if TYPE_CHECKING:
    from .permit import Permit

T = TypeVar("T")

_log = logging.getLogger("halfopen")

# Of more dependencies than this nothing is kept in memory: a stream of ever new names must not fill it.
_MOST_LOCALS = 10_000

# A call that comes so shortly after the end of a look takes over what was counted; in seconds.
_GRACE = 0.010


@dataclass(frozen=True)
class Settings:
    """What a `Breakers` was made with."""

    path: str | None
    namespace: str
    policy: Policy
    history: int
    caller: str | None
    local_admission: bool
    busy_timeout: float
    synchronous: str
    clock: Clock
    seed: int | None


@dataclass(frozen=True)
class Held(Generic[T]):
    """An answer, and the version of the record that it rests on."""

    answer: T
    version: int


class Room:
    """The store and the component of one process, and what runs on them."""

    def __init__(self, settings: Settings, store: SqliteStore | None = None) -> None:
        self.settings = settings
        self.clock = settings.clock
        self.caller = settings.caller if settings.caller is not None else f"pid {os.getpid()}"
        generator = random.Random(settings.seed)
        self._machine = Machine(settings.policy, self.clock.now, lambda: generator.getrandbits(64))
        # Last: what was opened would have to be closed again.
        self.store = store or SqliteStore(
            settings.path, busy_timeout=settings.busy_timeout, synchronous=settings.synchronous
        )
        self.housekeeper = Housekeeper()
        self.probes: weakref.WeakSet[Permit] = weakref.WeakSet()
        """The permits that hold a lease."""
        self._locals: dict[str, Local] = {}
        self._lock = threading.Lock()
        self._timers = itertools.count(1)

    def local(self, dependency: str) -> Local | None:
        """What this process knows of a dependency; none where nothing is answered from memory."""
        if not self.settings.local_admission or not isinstance(dependency, str):
            return None
        local = self._locals.get(dependency)
        if local is None:
            with self._lock:
                local = self._locals.setdefault(dependency, Local(dependency))
                if len(self._locals) > _MOST_LOCALS:
                    # The oldest that owe nothing.
                    spare = (name for name, one in self._locals.items() if one is not local and not one.has_counts())
                    self._locals.pop(next(spare, ""), None)
        return local

    def decide(self, op: Op[T], view: Snapshot) -> tuple[T, Change | None]:
        """Runs an operation on a record as it is known to be. Nothing of it reaches the store."""
        return self._machine.run(op, view)

    def perform(self, op: Op[T]) -> Held[T]:
        """Runs an operation. Its answer is durable when this returns.

        Raises `BreakerError`; nothing was changed then.
        """
        view = self.store.load(self.settings.namespace, op.dependency)
        answer, change = self.decide(op, view)
        if change is None:
            return Held(answer, view.version)
        with self.store.transaction() as transaction:
            while not transaction.write(self._write(op, view, change)):
                # Others were faster. Nobody is now: the file is locked.
                view = transaction.load(self.settings.namespace, op.dependency)
                answer, change = self.decide(op, view)
                if change is None:
                    return Held(answer, view.version)
            transaction.commit()
        for one in change.transitions:
            _log.info("%s: %s -> %s (%s)", op.dependency, one.from_state, one.to_state, one.reason)
        return Held(answer, view.version + change.commits)

    def _write(self, op: Op[Any], view: Snapshot, change: Change) -> Write:
        return Write(
            namespace=self.settings.namespace,
            dependency=op.dependency,
            based_on=view.version,
            version=view.version + change.commits,
            data=change.data,
            transitions=change.transitions,
            history=self.settings.history,
        )

    def hand_over(self, local: Local) -> None:
        """Hands over what is counted, now and in this thread."""
        # First, so that who counts from now on sets a timer.
        local.timer = 0
        self.hand_in(local, local.drain())

    def hand_in(self, local: Local, due: Due | None) -> None:
        """Hands over what was taken out. What the store will not take stays counted."""
        while due is not None:
            try:
                held = self.perform(ops.report_tally(local.dependency, PermitData(due.epoch), due.tally()))
            except BreakerError as error:
                _log.warning("%s: successes could not be handed over: %s", local.dependency, error)
                local.put_back(due)
                return
            due = local.hear(held.answer, held.version)

    def hand_over_soon(self, local: Local) -> None:
        """Hands over what is counted, elsewhere where that can be."""
        if not local.has_counts():
            return
        if self.clock.runs and self.housekeeper.start():
            self.housekeeper.do(lambda: self.hand_over(local))
        else:
            self.hand_over(local)

    def arm(self, local: Local) -> None:
        """Sees to it that what was just counted is handed over after the end of the look."""
        if local.timer:
            return
        left = local.left(self.clock)
        if not self.clock.runs:
            if left == 0:
                self.hand_over(local)
        elif self.housekeeper.start():
            number = next(self._timers)
            hand_over = lambda: self.hand_over(local) if local.timer == number else None  # noqa: E731
            self.housekeeper.do(hand_over, left / 1000 + _GRACE)
            local.timer = number

    def give_back(self, dependency: str, permit: PermitData) -> None:
        """Gives back a permit that was left."""
        try:
            held = self.perform(ops.release(dependency, permit))
        except BreakerError as error:
            _log.warning("a permit of %s that was left could not be given back: %s", dependency, error)
            return
        local = self.local(dependency)
        if local is not None:
            self.hand_in(local, local.hear(held.answer, held.version))

    def end_looks(self) -> None:
        """Ends all looks; what was counted under them is dropped."""
        for local in list(self._locals.values()):
            local.end()

    def close(self) -> None:
        """Hands over all that is counted, gives back what is left, and closes the store."""
        self.housekeeper.close()
        for permit in list(self.probes):
            if not permit.settled:
                self.give_back(permit.dependency, permit.data)
        for local in list(self._locals.values()):
            self.hand_over(local)
        self.store.close()

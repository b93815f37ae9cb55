"""The breakers of a namespace: the component, with a store."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Literal

from . import offstage, ops, workers
from .breaker import MOST_HISTORY, Breaker
from .clock import Clock, SystemClock
from .errors import BreakerError, Closed, InvalidArgument, StoreDenied, StoreUnavailable
from .policy import Policy
from .room import Room, Settings
from .store import SqliteStore, resolved
from .types import Observed, Pruned

# How often the store is looked at for transitions, in seconds, and how many are fetched at a time.
_EVERY = 0.05
_PAGE = 256

# In seconds; more than that is the same.
_FOR_EVER = 1e12


class Breakers:
    """The breakers of a namespace. One serves all threads and tasks of a process, and its children after a fork.

    `address` is a path, `sqlite:PATH` (the same), or `memory`. The file is the one that the program `halfopen` and the
    Rust crate use: processes of all kinds share it, and one lease.

    - `policy`: what dependencies without a policy of their own go by; a `Policy` or a mapping.
    - `namespace`: breakers of different namespaces see nothing of each other.
    - `caller`: who holds the leases, as `inspect` shows it; up to 64 bytes. Default `pid N`.
    - `history`: how many transitions of a dependency are kept.
    - `local_admission`: false asks the store for every call, and writes every outcome at once.
    - `busy_timeout`: how many seconds to wait for others that hold the file locked.
    - `synchronous`: `full` (a commit survives a crash of the machine) or `normal` (of the process).

    Raises `InvalidArgument`, `InvalidPolicy`, `StoreError` or `ComponentError`.
    """

    # What is not made need not be closed.
    _closed = True

    def __init__(
        self,
        address: str | os.PathLike[str],
        *,
        policy: Policy | Mapping[str, Any] | None = None,
        namespace: str = "default",
        caller: str | None = None,
        history: int = 1_000,
        local_admission: bool = True,
        busy_timeout: float = 5.0,
        synchronous: Literal["full", "normal"] = "full",
        _clock: Clock | None = None,
        _seed: int | None = None,
        _store: SqliteStore | None = None,
    ) -> None:
        for name, text in (("namespace", namespace), ("caller", caller)):
            if name != "caller" or text is not None:
                ops.text(f"`{name}`", text)  # type: ignore[arg-type]
        if synchronous not in ("full", "normal"):
            raise InvalidArgument(f"`synchronous` is {synchronous!r}; it must be `full` or `normal`")
        ops.at_least_0("history", history)
        if isinstance(busy_timeout, bool) or not isinstance(busy_timeout, (int, float)) or not busy_timeout >= 0:
            raise InvalidArgument(f"`busy_timeout` is {busy_timeout!r}; it must be a number of seconds")
        self._settings = Settings(
            path=resolved(address),
            namespace=namespace,
            policy=Policy.of(policy),
            history=min(history, MOST_HISTORY),
            caller=caller,
            local_admission=bool(local_admission),
            busy_timeout=float(min(busy_timeout, _FOR_EVER)),
            synchronous=synchronous,
            clock=_clock or SystemClock(),
            seed=_seed,
        )
        self._lock = threading.Lock()
        self._owns_store = _store is None
        self._pid = os.getpid()
        self._room = offstage.run(lambda: Room(self._settings, _store))
        self._closed = False
        _at_the_end_of_a_worker()
        _open.add(self)

    def breaker(self, dependency: str, *, caller: str | None = None) -> Breaker:
        """The breaker of a dependency. This reads nothing; the name is judged at each operation."""
        return Breaker(self, dependency, caller)

    def list(self) -> list[str]:
        """The dependencies that have a record in this namespace, sorted by their bytes. Raises `StoreError`."""
        room = self.room
        return offstage.run(lambda: room.store.dependencies(self._settings.namespace))

    def prune(self, idle: float) -> Pruned:
        """Removes the records of the namespace that nobody needs any more: see `Breaker.prune`.

        Raises `StoreError`. A record that cannot be judged (damaged, or of a later release) is kept.
        """
        removed = kept = 0
        for dependency in self.list():
            try:
                if self.breaker(dependency).prune(idle):
                    removed += 1
                else:
                    kept += 1
            except (StoreUnavailable, StoreDenied, InvalidArgument):
                raise
            except BreakerError:
                kept += 1
        room = self.room
        offstage.run(lambda: room.store.compact(self._settings.namespace))
        return Pruned(removed, kept)

    def transitions(self, *, timeout: float | None = None) -> Iterator[Observed]:
        """The transitions from this call on, of all dependencies of the namespace, those that other processes bring
        about included. The store is looked at 20 times a second. It ends when none has come for `timeout` seconds.
        """
        return self._transitions(offstage.run(self.room.store.newest), timeout)

    def _transitions(self, after: int, timeout: float | None) -> Iterator[Observed]:
        waiting_since = time.monotonic()
        while True:
            page = functools.partial(self.room.store.transitions, self._settings.namespace, after, _PAGE)
            found, after = offstage.run(page)
            if found:
                yield from found
                waiting_since = time.monotonic()
            elif timeout is not None and time.monotonic() - waiting_since >= timeout:
                return
            else:
                time.sleep(_EVERY)

    def remove_namespace(self) -> None:
        """Removes all records of the namespace, with their history. Permits that are out stay stale."""
        room = self.room
        offstage.run(lambda: room.store.remove_namespace(self._settings.namespace))
        # What was counted goes with the records.
        room.end_looks()

    @property
    def default_policy(self) -> Policy:
        """What dependencies without a policy of their own go by."""
        return self._settings.policy

    @property
    def namespace(self) -> str:
        """The namespace."""
        return self._settings.namespace

    def close(self) -> None:
        """Hands over what is counted in memory, and closes the store. Closing twice does nothing."""
        if not self._closed and self._pid == os.getpid():
            # Reports that coroutines have begun are made.
            workers.finish()
        with self._lock:
            if self._closed:
                return
            self._closed = True
        _open.discard(self)
        if self._pid == os.getpid():
            offstage.run(self._room.close)

    def __enter__(self) -> Breakers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        room = self.present_room if not self._closed else None
        if room is None:
            return
        if room.housekeeper.runs:
            # Whatever this thread is in the middle of, that one is not.
            room.housekeeper.do(room.close)
        elif self._owns_store:
            # Nobody else has it, and nothing was counted.
            room.store.close()

    @property
    def room(self) -> Room:
        """What this process has. Not for users."""
        if self._closed:
            raise Closed
        if self._pid != os.getpid():
            self._move()
        return self._room

    @property
    def present_room(self) -> Room | None:
        """What this process has, where it has it already. Not for users."""
        return self._room if self._pid == os.getpid() and not self._closed else None

    def _move(self) -> None:
        """After a fork: the threads are the parent's, and so is what it has counted."""
        with self._lock:
            if self._pid != os.getpid():
                self._room = offstage.run(lambda: Room(self._settings))
                self._pid = os.getpid()
                _at_the_end_of_a_worker()

    def _forked(self) -> None:
        # Another thread of the parent may have held it.
        self._lock = threading.Lock()


_open: weakref.WeakSet[Breakers] = weakref.WeakSet()


def _close_all() -> None:
    for breakers in list(_open):
        breakers.close()


def _at_the_end_of_a_worker() -> None:
    """Has all closed there too: the workers of `multiprocessing` leave by `os._exit`."""
    global _worker
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None and _worker != os.getpid():
        from multiprocessing.util import Finalize

        Finalize(None, _close_all, exitpriority=0)
        _worker = os.getpid()


_worker = 0


def _after_fork() -> None:
    for breakers in list(_open):
        breakers._forked()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""What a fork needs: that no other thread is in the middle of something which the child would find half done.

SQLite keeps the locks of a file in the process's memory, and a child would go on with its copy of them. So before a
fork the stores wait for whoever is using them and close their files, which are opened again at their next use, in both
processes. Where a store does not come to rest, the child never touches its file: it is told that it cannot be used.
And nobody is calling the component meanwhile.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING

from .machine import one_at_a_time

if TYPE_CHECKING:
    from .store import SqliteStore

# Longer than this nobody is waited for, in seconds, but for those who wait for a locked file.
_PATIENCE = 10.0

_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
_paused: list[SqliteStore] = []
_locked: list[bool] = []

# Two threads may fork at once.
_forking = threading.Lock()


def watch(store: SqliteStore) -> None:
    """Has a store paused while the process forks."""
    _stores.add(store)


def _before() -> None:
    _forking.acquire()
    _paused.extend(store for store in list(_stores) if store.pause(_PATIENCE))
    _locked.append(one_at_a_time.acquire(timeout=_PATIENCE))


def _after_in_parent() -> None:
    _unlock()
    while _paused:
        _paused.pop().go_on()
    _forking.release()


def _after_in_child() -> None:
    global _forking
    _forking = threading.Lock()
    _unlock()
    for store in list(_stores):
        store.abandon(paused=store in _paused)
    _stores.clear()
    _paused.clear()


def _unlock() -> None:
    if _locked and _locked.pop():
        one_at_a_time.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)

"""What a fork needs: that no other thread is in the middle of something which the child would find half done.

SQLite keeps the locks of a file in the process's memory, and a child would go on with its copy of them. So before a
fork the stores wait for whoever is using them and close their files, which are opened again at their next use, in both
processes. And nobody is calling the component meanwhile.
"""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

from .machine import one_at_a_time

if TYPE_CHECKING:
    from .store import SqliteStore

# Longer than this nobody is waited for, in seconds: it may be the very thread that forks, in the middle of a call.
_PATIENCE = 10.0

_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
_paused: list[SqliteStore] = []
_locked: list[bool] = []


def watch(store: SqliteStore) -> None:
    """Has a store paused while the process forks."""
    _stores.add(store)


def _before() -> None:
    _paused.extend(store for store in list(_stores) if store.pause(_PATIENCE))
    _locked.append(one_at_a_time.acquire(timeout=_PATIENCE))


def _after() -> None:
    if _locked and _locked.pop():
        one_at_a_time.release()
    while _paused:
        _paused.pop().go_on()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)

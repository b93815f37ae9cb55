"""Runs work where no signal handler does.

Python runs signal handlers in the main thread, in the middle of anything: an interrupt could leave a lock held, or a
transaction open, and one inside an import of the component would be lost. So what the main thread wants of the store
and of the component, a thread of its own does, to its end.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_Works = queue.SimpleQueue["Callable[[], None] | None"]


def run(work: Callable[[], T]) -> T:
    """Runs it, and waits. An interrupt ends the waiting, not the work."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    try:
        works = _works()
    except RuntimeError:
        # There are no more threads to be had, at the end of the process for one.
        return work()
    outcome: list[T] = []
    failed: list[BaseException] = []
    done = threading.Lock()
    done.acquire()

    def job() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            done.release()

    works.put(job)
    try:
        done.acquire()
    except BaseException:
        # It may take a while. What comes next does not wait for it.
        _leave(works)
        raise
    if failed:
        raise failed.pop()
    return outcome.pop()


_queue: _Works | None = None
_served_by = 0


def _works() -> _Works:
    """The queue of this process. Only the main thread comes here, so there is nothing to lock."""
    global _queue, _served_by
    if _queue is None or _served_by != os.getpid():
        works: _Works = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(works,), name="halfopen-offstage", daemon=True).start()
        _queue, _served_by = works, os.getpid()
    return _queue


def _leave(works: _Works) -> None:
    global _queue
    _queue = None
    works.put(None)


def _serve(works: _Works) -> None:
    while True:
        job = works.get()
        if job is None:
            return
        job()
        # What it came to is for whoever asked for it to keep.
        del job

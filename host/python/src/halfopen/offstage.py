"""Calls of the component: one at a time, and where no signal handler runs.

wasmtime for Python converts values with the help of global variables, so that two threads must not do it at once. And
Python runs signal handlers in the main thread, in the middle of anything: an interrupt inside an import of the
component would be lost, and the import would not return. So what the main thread wants of it, a thread of its own does.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

one_at_a_time = threading.Lock()
"""Held by whoever is calling the component, and while the process forks."""


def run(work: Callable[[], T]) -> T:
    """Runs it, and waits. An interrupt ends the waiting, not the work."""
    if threading.current_thread() is not threading.main_thread():
        with one_at_a_time:
            return work()
    outcome: list[T] = []
    failed: list[BaseException] = []
    done = threading.Lock()
    done.acquire()

    def job() -> None:
        try:
            with one_at_a_time:
                outcome.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            done.release()

    _works().put(job)
    done.acquire()
    if failed:
        raise failed[0]
    return outcome[0]


_queue: queue.SimpleQueue[Callable[[], None]] | None = None
_served_by = 0


def _works() -> queue.SimpleQueue[Callable[[], None]]:
    """The queue of this process. Only the main thread comes here, so there is nothing to lock."""
    global _queue, _served_by
    if _queue is None or _served_by != os.getpid():
        _queue, _served_by = queue.SimpleQueue(), os.getpid()
        threading.Thread(target=_serve, args=(_queue,), name="halfopen-component", daemon=True).start()
    return _queue


def _serve(works: queue.SimpleQueue[Callable[[], None]]) -> None:
    while True:
        works.get()()

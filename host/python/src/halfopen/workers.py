"""Threads that do for coroutines what waits for the store: the application's executor is left to the application."""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_log = logging.getLogger("halfopen")

# The component is called by one at a time; the others wait for files.
_MOST = 16


class _Workers:
    """The threads of one process, started as they are needed."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._changed = threading.Condition(threading.Lock())
        self._threads = 0
        self._undone = 0

    def do(self, job: Callable[[], None]) -> None:
        with self._changed:
            self._undone += 1
            if self._undone > self._threads and self._threads < _MOST:
                try:
                    threading.Thread(target=self._serve, name="halfopen-worker", daemon=True).start()
                    self._threads += 1
                except RuntimeError:
                    if self._threads == 0:
                        self._undone -= 1
                        raise
        self._jobs.put(job)

    def finish(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._undone == 0)

    def _serve(self) -> None:
        _here.works = True
        while True:
            job = self._jobs.get()
            try:
                job()
            finally:
                # What it came to is for whoever asked for it to keep.
                del job
                with self._changed:
                    self._undone -= 1
                    if self._undone == 0:
                        self._changed.notify_all()


_here = threading.local()
_workers = _Workers()


def _after_fork() -> None:
    # The threads are the parent's, and so is what they have to do.
    global _workers
    _workers = _Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def run(work: Callable[[], T]) -> T:
    """Does it on another thread, to its end, whatever becomes of whoever waits for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.cancelled():
            if error is not None:
                _log.warning("what nobody waited for any more failed: %s", error)
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)

    def job() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            # The loop is closed.
            if error is not None:
                _log.warning("what nobody waited for any more failed: %s", error)

    _workers.do(job)
    return await future


def finish() -> None:
    """Waits until all that was begun is done."""
    if not getattr(_here, "works", False):
        _workers.finish()

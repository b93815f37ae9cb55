"""A thread that does what nobody waits for: handing over counts, and giving back permits that were left behind."""

from __future__ import annotations

import heapq
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable

Job = Callable[[], None]

_log = logging.getLogger("halfopen")


class Housekeeper:
    """The thread of one `Breakers` in one process. It is started when it is first needed."""

    def __init__(self) -> None:
        # The one kind of queue that may be put to from a finalizer, in the middle of anything.
        self._jobs: queue.SimpleQueue[tuple[float, Job] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def start(self) -> bool:
        """Sees to it that the thread runs; false where it cannot."""
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._closed:
                    thread = threading.Thread(target=self._run, name="halfopen-housekeeper", daemon=True)
                    try:
                        thread.start()
                    except RuntimeError as error:
                        _log.debug("no housekeeper: %s", error)
                        return False
                    self._thread = thread
        return not self._closed

    @property
    def runs(self) -> bool:
        """Whether the thread was started."""
        return self._thread is not None

    def do(self, job: Job, after: float = 0.0) -> None:
        """Does a job in so many seconds. May be called from anywhere, finalizers included."""
        self._jobs.put((time.monotonic() + after, job))

    def close(self) -> None:
        """Does what was to be done at once, drops what was for later, and ends the thread."""
        with self._lock:
            self._closed = True
            thread = self._thread
        self._jobs.put(None)
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        order = itertools.count()
        due: list[tuple[float, int, Job]] = []
        while True:
            try:
                wait = max(0.0, due[0][0] - time.monotonic()) if due else None
                item = self._jobs.get(timeout=wait)
            except queue.Empty:
                _do(heapq.heappop(due)[2])
                continue
            if item is None:
                return
            at, job = item
            if at <= time.monotonic():
                _do(job)
            else:
                heapq.heappush(due, (at, next(order), job))
            del item, job


def _do(job: Job) -> None:
    try:
        job()
    except Exception:
        _log.exception("a job of the housekeeper failed")

"""Who is using a store, and whether anybody else is let in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Everybody who uses a store goes through it, and takes the store's own locks inside: so who shuts it waits for
    nobody that waits for it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._inside: list[int] = []
        self._shut = False

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Waits while it is shut, and is inside then. Who is inside already comes in at once."""
        me = threading.get_ident()
        with self._changed:
            self._changed.wait_for(lambda: not self._shut or me in self._inside)
            self._inside.append(me)
        try:
            yield
        finally:
            with self._changed:
                self._inside.remove(me)
                if not self._inside:
                    self._changed.notify_all()

    def shut(self, patience: float) -> bool:
        """Lets nobody in any more and waits for those inside. False where they take longer than so many seconds, or
        where this very thread is inside; it is open again then.
        """
        with self._changed:
            if threading.get_ident() in self._inside:
                return False
            self._shut = True
            empty = False
            try:
                empty = self._changed.wait_for(lambda: not self._inside, patience)
            finally:
                if not empty:
                    self._shut = False
                    self._changed.notify_all()
            return empty

    def open(self) -> None:
        """Lets everybody in."""
        with self._changed:
            self._shut = False
            self._changed.notify_all()

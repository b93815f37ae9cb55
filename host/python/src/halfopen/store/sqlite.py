"""SQLite: one file, which many processes may share, those of the wasmtime host included.

The file is in WAL mode: readers and the one writer do not wait for each other, and a read takes no write lock. Every
commit is one transaction, record and transitions together. A store in memory is the same without a file.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .. import forks
from ..errors import Closed
from ..instance import Snapshot
from ..types import Observed, Transition
from . import rows
from .faults import Place
from .gate import Gate
from .opening import Opened, patiently, reader, spoil, writer
from .rows import Write

T = TypeVar("T")

# A read takes microseconds: more connections than this are not kept.
_MOST_READERS = 4

# A fork does not wait longer than this for those who wait for a file that others hold locked, in seconds.
_LONGEST_PAUSE = 60.0


class SqliteStore:
    """A store of one process. After a fork the child makes its own, and abandons this one."""

    def __init__(self, path: str | None, *, busy_timeout: float, synchronous: str) -> None:
        self.place = Place(":memory:" if path is None else path, busy_timeout, synchronous)
        self._lock = threading.Lock()
        self._writer: Opened | None = writer(self.place)
        self._readers: list[Opened] = []
        self._closed = False
        self._gate = Gate()
        forks.watch(self)

    def load(self, namespace: str, dependency: str) -> Snapshot:
        """A plain look at a record."""
        return self._read(lambda connection: rows.load(connection, namespace, dependency))

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A write transaction, with the write lock in hand, so that nothing inside can lose a race. It is rolled back
        unless it was committed.
        """
        with self._gate.passed(), self._lock:
            connection = self._write_connection()
            patiently(self.place, lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                yield Transaction(self.place, connection)
            finally:
                if connection.in_transaction:
                    self._roll_back(connection)

    def dependencies(self, namespace: str) -> list[str]:
        """Those that have a record, sorted by their bytes."""
        return self._read(lambda connection: rows.dependencies(connection, namespace))

    def history(self, namespace: str, dependency: str, limit: int) -> list[Transition]:
        """The last so many transitions of a dependency, oldest first."""
        return self._read(lambda connection: rows.history(connection, namespace, dependency, limit))

    def newest(self) -> int:
        """Where the stream of transitions ends."""
        return self._read(rows.newest)

    def transitions(self, namespace: str, after: int, limit: int) -> tuple[list[Observed], int]:
        """The next transitions of a namespace, and where to go on from."""
        return self._read(lambda connection: rows.transitions(connection, namespace, after, limit))

    def remove_namespace(self, namespace: str) -> None:
        """Removes all records of a namespace, and their history. What is out stays stale."""
        with self.transaction() as transaction:
            transaction.run(lambda connection: rows.remove_namespace(connection, namespace))
            transaction.commit()

    def compact(self, namespace: str) -> None:
        """Keeps one version for all records that were removed."""
        with self.transaction() as transaction:
            transaction.run(lambda connection: rows.compact(connection, namespace))
            transaction.commit()

    def close(self) -> None:
        """Closes the connections; those that are reading are closed when they are done."""
        with self._gate.passed(), self._lock:
            self._closed = True
            self._close_connections()

    def pause(self, patience: float) -> bool:
        """Waits for whoever is using the store, closes the file and lets nobody in: before a fork. False where they
        take longer than so many seconds and than they may; it goes on as it was then.
        """
        if not self._gate.shut(max(patience, min(2 * self.place.busy_timeout, _LONGEST_PAUSE))):
            return False
        if not self.place.in_memory:
            self._close_connections()
        return True

    def go_on(self) -> None:
        """Ends the pause."""
        self._gate.open()

    def abandon(self, *, paused: bool) -> None:
        """In a child, where nobody uses it any more: what other threads of the parent held they hold for ever."""
        self._gate = Gate()
        self._lock = threading.Lock()
        if not paused:
            spoil(self.place)

    def _read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        with self._gate.passed():
            if not self.place.in_memory:
                return self._read_file(read)
            with self._lock:
                connection = self._write_connection()
                return self._explained(lambda: read(connection))

    def _read_file(self, read: Callable[[sqlite3.Connection], T]) -> T:
        try:
            opened: Opened | None = self._readers.pop()
        except IndexError:
            opened = None
        if opened is not None and not opened.is_at_its_path():
            opened.close()
            opened = None
        if opened is None:
            # Makes the file ready again where it has been removed since.
            if self._closed or self._writer is None or not self._writer.is_at_its_path():
                with self._lock:
                    self._write_connection()
            opened = reader(self.place)
        connection = opened.connection
        try:
            result = self._explained(lambda: read(connection))
        except BaseException:
            opened.close()
            raise
        if self._closed or len(self._readers) >= _MOST_READERS:
            opened.close()
        else:
            self._readers.append(opened)
        return result

    def _close_connections(self) -> None:
        opened = [*self._readers, *([self._writer] if self._writer else [])]
        self._readers, self._writer = [], None
        for one in opened:
            one.close()

    def _explained(self, read: Callable[[], T]) -> T:
        try:
            return patiently(self.place, read)
        except rows.Damaged as error:
            raise self.place.fault(error) from error

    def _write_connection(self) -> sqlite3.Connection:
        """With the lock in hand."""
        if self._closed:
            raise Closed
        # What is written to a file that was removed nobody will read.
        if self._writer is not None and not self._writer.is_at_its_path():
            gone, self._writer = self._writer, None
            gone.close()
        if self._writer is None:
            self._writer = writer(self.place)
        return self._writer.connection

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error:
            # It stays in the middle of a transaction; the next write has another.
            if not self.place.in_memory:
                self._writer = None
            connection.close()


class Transaction:
    """A write transaction. Nothing of it is done until it is committed."""

    def __init__(self, place: Place, connection: sqlite3.Connection) -> None:
        self._place = place
        self._connection = connection

    def load(self, namespace: str, dependency: str) -> Snapshot:
        """A record as it is now."""
        return self.run(lambda connection: rows.load(connection, namespace, dependency))

    def write(self, write: Write) -> bool:
        """Writes a record; false where it has another version."""
        return self.run(lambda connection: rows.write(connection, write))

    def commit(self) -> None:
        """Makes it durable."""
        patiently(self._place, lambda: self._connection.execute("COMMIT"))

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs statements in it."""
        try:
            return work(self._connection)
        except (sqlite3.Error, MemoryError, rows.Damaged) as error:
            raise self._place.fault(error) from error

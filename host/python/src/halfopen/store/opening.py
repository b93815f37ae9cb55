"""Opening a file: the checks, WAL mode, and the schema. In every point as the wasmtime host does it."""

from __future__ import annotations

import ctypes
import os
import random
import sqlite3
import time
import weakref
from collections.abc import Callable
from typing import TypeVar

from ..errors import StoreDenied, StoreNewer, StoreUnavailable
from .faults import Place, is_busy

T = TypeVar("T")

# Marks a file as one of ours: "half" in ASCII.
APPLICATION_ID = 0x68616C66

# Strict tables are known from this release on.
_OLDEST_SQLITE = (3, 37, 0)

# One step a schema version, the same as in the wasmtime host. A step that was released is never changed.
_STEPS = (
    """
    PRAGMA application_id = 1751215206;
     CREATE TABLE record (
         namespace TEXT NOT NULL,
         dependency TEXT NOT NULL,
         version INTEGER NOT NULL,
         counted INTEGER NOT NULL,
         data BLOB,
         PRIMARY KEY (namespace, dependency)
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE transition (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         namespace TEXT NOT NULL,
         dependency TEXT NOT NULL,
         number INTEGER NOT NULL,
         from_state TEXT NOT NULL,
         to_state TEXT NOT NULL,
         at INTEGER NOT NULL,
         epoch INTEGER NOT NULL,
         reason TEXT NOT NULL
     ) STRICT;
     CREATE UNIQUE INDEX transition_of_record ON transition (namespace, dependency, number);
     CREATE TABLE removed (
         namespace TEXT PRIMARY KEY,
         version INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID;
    """,
)

Identity = tuple[int, int]

# Files that were open in the parent when this process was forked off. SQLite's memory says that this process holds
# locks on them, and it holds none: what it wrote might be lost, and others' writes with it.
_spoilt: set[Identity] = set()
_connections: weakref.WeakSet[Opened] = weakref.WeakSet()


class Opened:
    """A connection, and the file it has open: its path may lead to another by now, or to none."""

    def __init__(self, connection: sqlite3.Connection, place: Place) -> None:
        self.connection = connection
        self.place = place
        self._identity = _identity(place)
        _connections.add(self)

    def is_at_its_path(self) -> bool:
        """Whether the file is still the one that others find at the path."""
        return self.place.in_memory or (self._identity is not None and self._identity == _identity(self.place))

    def close(self) -> None:
        """Closes it. The last connection to a file removes its log, by its name: that may be the log of the file that
        has come in its place, and then the connection is left open.
        """
        _connections.discard(self)
        if self.is_at_its_path():
            self.connection.close()
        else:
            leave_open(self.connection)


def leave_open(connection: sqlite3.Connection) -> None:
    """Never closes a connection, not even at the end of the process."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def spoil(place: Place) -> None:
    """Never opens the file at a place again, in this process and its children, nor closes what is open of it: for a
    child that was forked off while the file was in use.
    """
    for opened in [one for one in _connections if one.place == place]:
        _connections.discard(opened)
        leave_open(opened.connection)
    identity = _identity(place)
    if identity is not None:
        _spoilt.add(identity)


def _identity(place: Place) -> Identity | None:
    if place.in_memory:
        return None
    try:
        status = os.stat(place.path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def writer(place: Place) -> Opened:
    """A connection that writes; the file is made ready first, whoever else is doing so at the same moment."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise StoreDenied(place.name, f"this Python has SQLite {sqlite3.sqlite_version}; it takes 3.37 or later")
    # Not every lock is waited for by SQLite: not that of the change to WAL mode.
    return Opened(patiently(place, lambda: _prepare(place)), place)


def reader(place: Place) -> Opened:
    """A connection that reads; the file is known to be ready."""

    def open_reader() -> sqlite3.Connection:
        return _connect(place, "query_only = true")

    return Opened(patiently(place, open_reader), place)


def patiently(place: Place, work: Callable[[], T]) -> T:
    """Runs something that others may keep from being done, again and again until the time is up.

    SQLite's own waiting begins with whole milliseconds and grows; a commit takes a fraction of one. This looks again
    soon, and at random moments, so that those who wait do not all come back together.
    """
    until = None
    tries = 0
    while True:
        try:
            return work()
        except (sqlite3.Error, MemoryError) as error:
            if until is None:
                until = time.monotonic() + place.busy_timeout
            if not is_busy(error) or time.monotonic() >= until:
                raise place.fault(error) from error
        most = min(60e-6 * (1 << min(tries // 16, 6)), 4e-3)
        time.sleep(random.uniform(most / 2, most))
        tries += 1


def _connect(place: Place, *pragmas: str) -> sqlite3.Connection:
    if _spoilt and _identity(place) in _spoilt:
        raise StoreUnavailable(
            place.name,
            "this process was forked off in the middle of using it; start another, and fork where no call is under way",
        )
    # No waiting inside SQLite: `patiently` does that.
    connection = sqlite3.connect(place.path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("trusted_schema = false", *pragmas):
            connection.execute(f"PRAGMA {pragma}")
        return connection
    except BaseException:
        connection.close()
        raise


def _prepare(place: Place) -> sqlite3.Connection:
    # SQLite would open a file that is read-only, and leave files beside it that are read-only too.
    refused = None if place.in_memory else place.refused()
    if refused is not None:
        raise refused
    connection = _connect(place)
    try:
        version = _check_ours(connection, place)
        if not place.in_memory:
            _make_durable(connection, place)
        if version < len(_STEPS):
            _migrate(connection, place)
        return connection
    except BaseException:
        connection.close()
        raise


def _make_durable(connection: sqlite3.Connection, place: Place) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = wal").fetchone()
    if mode != "wal":
        raise place.denied(
            f"its file system does not allow the WAL mode (it stays in mode {mode}); give a file on a local disk"
        )
    connection.execute(f"PRAGMA synchronous = {place.synchronous}")
    # Elsewhere than on macOS these change nothing; there a plain fsync leaves data in the drive's cache.
    full = "true" if place.synchronous == "full" else "false"
    connection.execute(f"PRAGMA fullfsync = {full}")
    connection.execute(f"PRAGMA checkpoint_fullfsync = {full}")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _check_ours(connection: sqlite3.Connection, place: Place) -> int:
    """The schema version of a file that is ours, or empty."""
    # The version last: another process that is just making the file makes all of it at once.
    version = _pragma(connection, "user_version")
    application = _pragma(connection, "application_id")
    if application != APPLICATION_ID:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        application = _pragma(connection, "application_id")
        if application != APPLICATION_ID and (tables > 0 or application != 0 or version != 0):
            raise place.denied("it is a database of another program; give another file")
        return 0
    if version > len(_STEPS):
        raise StoreNewer(
            place.name,
            f"it has schema {version}, and this package knows up to {len(_STEPS)}; update it, or give another store",
        )
    return version


def _migrate(connection: sqlite3.Connection, place: Place) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Now that nobody else can change it: another process may have been faster.
        for version in range(_check_ours(connection, place), len(_STEPS)):
            for statement in _STEPS[version].split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise

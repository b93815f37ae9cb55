"""What SQLite's errors mean to the user."""

from __future__ import annotations

import os
import sqlite3
import stat
from dataclasses import dataclass

from ..errors import StoreCorrupt, StoreDenied, StoreError, StoreUnavailable
from .rows import Damaged

DISK_FULL = "the disk is full; free some space"
READ_ONLY = "it is read-only; give this user the right to write the file and its folder"

# With less room on its disk a store cannot work, in bytes: what SQLite adds to its files at once.
_LEAST_ROOM = 64 << 10


@dataclass(frozen=True)
class Place:
    """The file, and how it is opened."""

    path: str
    """The path; `:memory:` for none."""
    busy_timeout: float
    """How long to wait for others that hold it locked, in seconds."""
    synchronous: str
    """When a commit counts as durable: `full` or `normal`."""

    @property
    def in_memory(self) -> bool:
        """Whether it is no file."""
        return self.path == ":memory:"

    @property
    def name(self) -> str:
        """As messages name it."""
        return "in memory" if self.in_memory else os.fsdecode(self.path)

    def unavailable(self, why: str) -> StoreError:
        """It cannot be used now."""
        return StoreUnavailable(self.name, why)

    def denied(self, why: str) -> StoreError:
        """It refuses."""
        return StoreDenied(self.name, why)

    def corrupt(self, why: str) -> StoreError:
        """It is damaged."""
        return StoreCorrupt(self.name, why)

    def fault(self, error: Exception) -> StoreError:
        """What an error of SQLite's means."""
        code = primary_code(error)
        if isinstance(error, (Damaged, UnicodeDecodeError)) or "Could not decode to UTF-8" in str(error):
            return self.corrupt(f"a row holds what this package never wrote there ({error}); restore the file")
        if is_busy(error):
            waited = round(self.busy_timeout * 1000)
            return self.unavailable(f"another process has held it locked for longer than {waited} ms; try again")
        if code == sqlite3_code("FULL"):
            return self.unavailable(DISK_FULL)
        if code == sqlite3_code("IOERR"):
            return self.unavailable(self._shortage() or f"reading or writing failed ({error}); look at the disk")
        if code == sqlite3_code("NOMEM"):
            return self.unavailable("there is no memory left")
        if code == sqlite3_code("CANTOPEN"):
            return self._cannot_open()
        if code == sqlite3_code("READONLY"):
            return self.denied(READ_ONLY)
        if code in (sqlite3_code("PERM"), sqlite3_code("AUTH")):
            return self.denied("this user has no right to it")
        if code == sqlite3_code("NOTADB"):
            return self.corrupt("it is not a SQLite database; give another file")
        if code == sqlite3_code("CORRUPT"):
            return self.corrupt("the database is malformed; restore it, or move it away to start afresh")
        return StoreError(self.name, str(error))

    def refused(self) -> StoreError | None:
        """What speaks against opening the file before that is tried."""
        try:
            mode = os.stat(self.path).st_mode
        except OSError:
            return None
        if stat.S_ISDIR(mode):
            return self.denied("it is a folder; give the path of a file")
        if not stat.S_ISREG(mode):
            return self.denied("it is neither a file nor a folder; give the path of a file")
        if not os.access(self.path, os.R_OK):
            return self.denied("this user has no right to read and write it")
        return None if os.access(self.path, os.W_OK) else self.denied(READ_ONLY)

    def _cannot_open(self) -> StoreError:
        refused = self.refused()
        if refused is not None:
            return refused
        folder = os.path.dirname(self.path) or "."
        if not os.path.lexists(folder):
            return self.unavailable(f"there is no folder {folder}; create it")
        if not os.path.isdir(folder):
            return self.denied(f"{folder} is not a folder")
        if not os.access(folder, os.W_OK):
            return self.denied("it cannot be opened; this user needs the right to create files in its folder")
        return self.unavailable(self._shortage() or "it cannot be opened, and the system does not say why")

    def _shortage(self) -> str | None:
        try:
            left = os.statvfs(os.path.dirname(self.path) or ".")
        except (OSError, AttributeError):
            return None
        return DISK_FULL if left.f_bavail * left.f_frsize < _LEAST_ROOM else None


# Python names SQLite's codes from 3.11 on; before that its exceptions have none, and only their text tells.
_CODES = {
    "PERM": (3, "access permission denied"),
    "BUSY": (5, "database is locked"),
    "LOCKED": (6, "database table is locked"),
    "NOMEM": (7, "out of memory"),
    "READONLY": (8, "attempt to write a readonly database"),
    "IOERR": (10, "disk I/O error"),
    "CORRUPT": (11, "database disk image is malformed"),
    "FULL": (13, "database or disk is full"),
    "CANTOPEN": (14, "unable to open database file"),
    "PROTOCOL": (15, "locking protocol"),
    "AUTH": (23, "authorization denied"),
    "NOTADB": (26, "file is not a database"),
}


def sqlite3_code(name: str) -> int:
    """The number of one of SQLite's result codes."""
    return _CODES[name][0]


def primary_code(error: Exception) -> int | None:
    """SQLite's result code, without its extension."""
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        return code & 0xFF
    if isinstance(error, MemoryError):
        return sqlite3_code("NOMEM")
    text = str(error)
    if not isinstance(error, sqlite3.Error):
        return None
    return next((code for code, words in _CODES.values() if text.startswith(words)), None)


def is_busy(error: Exception) -> bool:
    """Whether others hold the file locked."""
    return primary_code(error) in (sqlite3_code("BUSY"), sqlite3_code("LOCKED"), sqlite3_code("PROTOCOL"))

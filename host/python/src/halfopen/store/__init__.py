"""Where the records are: a SQLite file, which many processes may share, or memory."""

from .address import resolved
from .sqlite import SqliteStore, Transaction

__all__ = ["SqliteStore", "Transaction", "resolved"]

"""The statements. Unsigned numbers are kept bit for bit in SQLite's signed ones; none of them is ever compared but for
equality.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ..instance import Snapshot
from ..types import Observed, State, Transition


@dataclass(frozen=True)
class Write:
    """What is to become of a record, and what happened to it."""

    namespace: str
    dependency: str
    based_on: int
    """Nothing is written unless this is its version."""
    version: int
    """Its version from then on."""
    data: bytes | None
    transitions: Sequence[Transition]
    history: int
    """How many transitions of it are kept."""


class Damaged(Exception):
    """A row holds what this package never wrote there."""


def signed(number: int) -> int:
    """An unsigned number as SQLite keeps it."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _unsigned(number: object) -> int:
    if not isinstance(number, int):
        raise Damaged(f"{number!r} where a number should be")
    return number + (1 << 64) if number < 0 else number


def load(connection: sqlite3.Connection, namespace: str, dependency: str) -> Snapshot:
    """The record of a dependency."""
    found = connection.execute(
        "SELECT version, data FROM record WHERE namespace = ? AND dependency = ?", (namespace, dependency)
    ).fetchone()
    if found is None:
        # The version of whatever has no row in the namespace.
        floor = connection.execute("SELECT version FROM removed WHERE namespace = ?", (namespace,)).fetchone()
        return Snapshot(0 if floor is None else _unsigned(floor[0]), None)
    version, data = found
    if data is not None and not isinstance(data, bytes):
        raise Damaged("a record that is no blob")
    return Snapshot(_unsigned(version), data)


def write(connection: sqlite3.Connection, write: Write) -> bool:
    """Writes, inside a write transaction; false where another has written since."""
    name = (write.namespace, write.dependency)
    added = write.transitions if write.data is not None else ()
    # The row, where there is one, comes back; it has to be read to its end for the statement to be done.
    updated = connection.execute(
        "UPDATE record SET version = ?, counted = counted + ?, data = ?"
        " WHERE namespace = ? AND dependency = ? AND version = ? RETURNING counted",
        (signed(write.version), len(added), write.data, *name, signed(write.based_on)),
    ).fetchall()
    if updated:
        counted = _unsigned(updated[0][0])
    else:
        if load(connection, *name).version != write.based_on:
            return False
        inserted = connection.execute(
            "INSERT INTO record (namespace, dependency, version, counted, data) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (*name, signed(write.version), len(added), write.data),
        )
        if inserted.rowcount <= 0:
            return False
        counted = len(added)
    if write.data is None:
        connection.execute("DELETE FROM transition WHERE namespace = ? AND dependency = ?", name)
    elif added:
        first = counted - len(added) + 1
        connection.executemany(
            "INSERT INTO transition (namespace, dependency, number, from_state, to_state, at, epoch, reason)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (*name, number, one.from_state, one.to_state, signed(one.at_ms), signed(one.epoch), one.reason)
                for number, one in enumerate(added, first)
            ],
        )
        connection.execute(
            "DELETE FROM transition WHERE namespace = ? AND dependency = ? AND number <= ?",
            (*name, counted - write.history),
        )
    return True


def dependencies(connection: sqlite3.Connection, namespace: str) -> list[str]:
    """Those that have a record, sorted by their bytes."""
    found = connection.execute(
        "SELECT dependency FROM record WHERE namespace = ? AND data IS NOT NULL ORDER BY dependency", (namespace,)
    )
    return [dependency for (dependency,) in found]


def history(connection: sqlite3.Connection, namespace: str, dependency: str, limit: int) -> list[Transition]:
    """The last so many transitions, oldest first."""
    found = connection.execute(
        "SELECT from_state, to_state, at, epoch, reason FROM transition"
        " WHERE namespace = ? AND dependency = ? ORDER BY number DESC LIMIT ?",
        (namespace, dependency, limit),
    ).fetchall()
    return [_transition(*row) for row in reversed(found)]


def newest(connection: sqlite3.Connection) -> int:
    """The number of the last transition of all."""
    return _unsigned(connection.execute("SELECT coalesce(max(id), 0) FROM transition").fetchone()[0])


def transitions(connection: sqlite3.Connection, namespace: str, after: int, limit: int) -> tuple[list[Observed], int]:
    """The next transitions of a namespace after a number, and the number to go on from."""
    # Looked at first: what comes in between is for the next page.
    last = newest(connection)
    if after >= last:
        return [], max(after, last)
    found = connection.execute(
        "SELECT id, dependency, from_state, to_state, at, epoch, reason FROM transition"
        " WHERE id > ? AND id <= ? AND +namespace = ? ORDER BY id LIMIT ?",
        (after, last, namespace, limit),
    ).fetchall()
    observed = [Observed(row[1], _transition(*row[2:])) for row in found]
    return observed, found[-1][0] if len(found) >= limit else last


def _transition(from_state: str, to_state: str, at: int, epoch: int, reason: str) -> Transition:
    return Transition(_state(from_state), _state(to_state), _unsigned(at), _unsigned(epoch), reason)


def _state(word: str) -> State:
    if word == "closed" or word == "open" or word == "half-open":
        return word  # type: ignore[return-value]
    raise Damaged(f"a state {word!r}")


def compact(connection: sqlite3.Connection, namespace: str) -> None:
    """Keeps one version for all records that were removed. Inside a write transaction."""
    connection.execute(
        "INSERT INTO removed (namespace, version)"
        " SELECT ?, max(version) FROM record WHERE namespace = ? AND data IS NULL HAVING count(*) > 0"
        " ON CONFLICT (namespace) DO UPDATE SET version = max(version, excluded.version)",
        (namespace, namespace),
    )
    connection.execute("DELETE FROM record WHERE namespace = ? AND data IS NULL", (namespace,))


def remove_namespace(connection: sqlite3.Connection, namespace: str) -> None:
    """Removes all of it. Inside a write transaction."""
    # One above the highest, so that a write based on what was there is stale.
    connection.execute(
        "INSERT INTO removed (namespace, version)"
        " SELECT ?, max(version) + 1 FROM record WHERE namespace = ? HAVING count(*) > 0"
        " ON CONFLICT (namespace) DO UPDATE SET version = max(version, excluded.version)",
        (namespace, namespace),
    )
    connection.execute("DELETE FROM record WHERE namespace = ?", (namespace,))
    connection.execute("DELETE FROM transition WHERE namespace = ?", (namespace,))

"""JSON read strictly: a key that occurs twice is an error, and so is a key that nobody asked for."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import Any, TypeVar

from ..policy import U64_MAX

T = TypeVar("T")

# What the parser of the wasmtime host takes.
_DEEPEST = 127


class Wrong(Exception):
    """What is wrong with a line."""


class Odd(float):
    """A number that is not a whole one from 0 to 2^64 - 1."""


def quoted(text: str) -> str:
    """A text as messages show it."""
    return json.dumps(text, ensure_ascii=False)


def parse_line(line: str) -> Any:
    """Reads one line. Whole numbers come as int, others as `Odd`."""
    if not line.strip():
        raise Wrong("an empty line; every line is one JSON object")
    try:
        value = json.loads(
            line, object_pairs_hook=_object, parse_int=_int, parse_float=_float, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        if error.pos >= len(line.rstrip()) or error.msg.startswith("Unterminated string"):
            raise Wrong(f"the line ends in the middle ({error.msg}); the file seems to be cut") from error
        raise Wrong(f"not JSON at column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise Wrong("not JSON: nested too deeply") from error
    _check(value, 0)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise Wrong(f"the key {quoted(key)} occurs twice")
        made[key] = value
    return made


def _int(digits: str) -> Any:
    # No number that counts has more digits, and Python refuses very many.
    if len(digits) > 400:
        raise Wrong("a number is out of range")
    number = int(digits)
    return number if 0 <= number <= U64_MAX else _odd(float(number))


def _float(digits: str) -> Any:
    return _odd(float(digits))


def _odd(number: float) -> Any:
    if number in (float("inf"), float("-inf")):
        raise Wrong("a number is out of range")
    # 5.0 is 5: not every reader of JSON can tell the two apart.
    return int(number) if number == int(number) and 0 <= number < 9e15 else Odd(number)


def _constant(word: str) -> Any:
    raise Wrong(f"not JSON: {word} is no number of JSON")


def _check(value: Any, depth: int) -> None:
    if depth > _DEEPEST:
        raise Wrong("not JSON: nested too deeply")
    if isinstance(value, str):
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise Wrong("not JSON: half a surrogate pair in a string")
    elif isinstance(value, dict):
        for key, one in value.items():
            _check(key, depth + 1)
            _check(one, depth + 1)
    elif isinstance(value, list):
        for one in value:
            _check(one, depth + 1)


def kind(value: Any) -> str:
    """What kind of value this is, in words that fit behind "got"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, Odd):
        negative = value < 0 and value.is_integer()
        return "a negative number" if negative else "a number that is not a whole one from 0 to 18446744073709551615"
    if isinstance(value, int):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


def wrong_type(key: str, wanted: str, got: Any) -> Wrong:
    """A value of another kind than it must be."""
    return Wrong(f"{quoted(key)} must be {wanted}, got {kind(got)}")


def is_whole(value: Any) -> bool:
    """Whether it is a whole number that counts."""
    return isinstance(value, int) and not isinstance(value, bool)


def word(key: str, value: Any, words: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str):
        raise wrong_type(key, "a string", value)
    if value not in words:
        known = ", ".join(map(quoted, words))
        raise Wrong(f"{quoted(key)} is {quoted(value)}; it must be one of {known}")
    return value


class Fields:
    """The fields of an object, taken one by one. What is left at the end did not belong there."""

    def __init__(self, what: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise Wrong(f"{what} must be an object, got {kind(value)}")
        self.what = what
        """The object in messages: "the first line", "an acquire step"."""
        self.left = dict(value)
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self.left

    def take(self, key: str) -> Any:
        """The value of a key, and none where it is missing (or null: ask first)."""
        self._known.append(key)
        return self.left.pop(key, None)

    def string(self, key: str) -> str | None:
        """A string, where the key is there."""
        if key not in self:
            self.take(key)
            return None
        value = self.take(key)
        if not isinstance(value, str):
            raise wrong_type(key, "a string", value)
        return value

    def whole(self, key: str) -> int | None:
        """A whole number, where the key is there."""
        if key not in self:
            self.take(key)
            return None
        value = self.take(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong_type(key, "a whole number", value)
        return value

    def word(self, key: str, words: Sequence[str]) -> str | None:
        """One of a few words, where the key is there."""
        if key not in self:
            self.take(key)
            return None
        return word(key, self.take(key), words)

    def required(self, key: str, value: T | None) -> T:
        """A value that must be there."""
        if value is None:
            raise Wrong(f"{self.what} lacks {quoted(key)}")
        return value

    def finish(self) -> None:
        """Says what did not belong there."""
        for key in self.left:
            near = difflib.get_close_matches(key, self._known, 1, 0.75)
            meant = f"; did you mean {quoted(near[0])}?" if near else ""
            raise Wrong(f"{self.what} has no key {quoted(key)}{meant}")

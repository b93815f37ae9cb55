"""Where a store is, as users write it: the same as for the program `halfopen`."""

from __future__ import annotations

import os
import re

from ..errors import InvalidArgument
from ..policy import kind


def resolved(address: str | os.PathLike[str]) -> str | None:
    """The absolute path of the file at an address, `sqlite:PATH`, a path, or `memory`; none for a store in memory. A
    process may change its folder later, and still means the same file.

    Raises `InvalidArgument` for an address that names none.
    """
    if isinstance(address, os.PathLike):
        path: str | None = os.fspath(address)
    elif isinstance(address, str):
        path = _path(address)
    else:
        raise InvalidArgument(f"a store's address is a string or a path, not {kind(address)}")
    if path is None:
        return None
    try:
        os.fsencode(path)
        return os.path.abspath(path)
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"the store's path {path!r} cannot be that of a file: {error}") from error
    except OSError as error:
        raise InvalidArgument(
            f"the store's path {path} is relative, and this process has no folder ({error}); give an absolute one"
        ) from error


def _path(address: str) -> str | None:
    """The path of the file; none for a store in memory."""

    def refuse(why: str) -> InvalidArgument:
        return InvalidArgument(
            f"`{_shown(address)}` is no store address: {why}; give `sqlite:PATH`, a path, or `memory`"
        )

    if address == "memory":
        return None
    if address.lower() == "memory":
        raise refuse("`memory` is written in small letters")
    scheme, colon, rest = address.partition(":")
    if not colon:
        path = address
    elif scheme == "sqlite":
        path = rest
    elif len(scheme) > 1 and "/" not in scheme and "\\" not in scheme:
        raise refuse("this package has no store of that kind; a path with a colon is written `sqlite:PATH`")
    elif "@" in rest:
        raise refuse("it looks like the address of a server; a path with a colon and an @ is written `sqlite:PATH`")
    else:
        path = address
    if not path.strip():
        raise refuse("it names no file")
    if "://" in path:
        raise refuse("an address of another kind is no path")
    if path.startswith("file:"):
        raise refuse("a path is written without `file:`")
    if path in (":memory:", "memory:"):
        raise refuse("a store in memory is written differently")
    if "\0" in path:
        raise refuse("a path holds no NUL character")
    return path


def _shown(address: str) -> str:
    """An address as messages show it: without what may be a password, and not endless."""
    shown = re.sub(r"(://[^:@]*:).*@", r"\1***@", address, flags=re.DOTALL)
    shown = re.sub(r"(://[^?]*\?).*", r"\1***", shown, flags=re.DOTALL)
    if "://" not in address and not address.startswith("sqlite:") and ("@" in address or "=" in address):
        shown = address.partition(":")[0] + ":***"
    return shown[:200]

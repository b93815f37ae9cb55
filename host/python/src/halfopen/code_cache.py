"""Compiled code in files, so that a new process starts sooner.

Compiled code is run as it is, so a file is only trusted in a folder that belongs to this user and that nobody else can
write. Whatever stands in the way, the code is compiled anew: the cache is never needed.
"""

from __future__ import annotations

import hashlib
import os
import stat
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# A file is the SHA-256 of the rest, and the rest: a file cut short by a full disk is not run.
_HASH = 32

# So many files are kept: some releases of this package and of wasmtime.
_MOST = 8


def name(sha256: str) -> str:
    """The name of the file for a component. What else it depends on, wasmtime checks when it loads it."""
    try:
        engine = version("wasmtime")
    except PackageNotFoundError:
        engine = "unknown"
    return f"{sha256}-{engine}.cwasm"


def read(name: str) -> bytes | None:
    """The code of that name, where there is some that can be trusted."""
    folder = _folder()
    if folder is None:
        return None
    try:
        _trust(os.lstat(folder), is_folder=True)
        with open(folder / name, "rb") as file:
            _trust(os.fstat(file.fileno()), is_folder=False)
            held = file.read()
    except OSError:
        return None
    code = held[_HASH:]
    return code if code and held[:_HASH] == hashlib.sha256(code).digest() else None


def write(name: str, code: bytes) -> None:
    """Keeps code under that name, where that can be done."""
    folder = _folder()
    if folder is None:
        return
    draft = folder / f".{name}.{os.urandom(8).hex()}"
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        _trust(os.lstat(folder), is_folder=True)
        # Under a name of its own first: other processes see the whole file or none.
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(draft, folder / name)
        _prune(folder)
    except OSError:
        draft.unlink(missing_ok=True) if folder.is_dir() else None


def _folder() -> Path | None:
    if os.name != "posix":
        return None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".cache")
    return Path(base) / "halfopen-python"


def _trust(status: os.stat_result, *, is_folder: bool) -> None:
    right_kind = stat.S_ISDIR(status.st_mode) if is_folder else stat.S_ISREG(status.st_mode)
    if not right_kind or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise PermissionError("others can write it")


def _prune(folder: Path) -> None:
    kept = sorted((path.stat().st_mtime, path) for path in folder.iterdir())
    for _, path in kept[:-_MOST]:
        path.unlink(missing_ok=True)

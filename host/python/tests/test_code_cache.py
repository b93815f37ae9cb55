"""Compiled code is kept in a folder that nobody else can write, and never needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from halfopen import code_cache
from halfopen.component import Code

pytestmark = pytest.mark.skipif(os.name != "posix", reason="compiled code is kept on Unix only")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "halfopen-python"


def test_what_one_process_compiled_the_next_one_loads(folder: Path) -> None:
    Code()
    (kept,) = folder.iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    changed = kept.stat().st_mtime_ns
    Code()
    assert kept.stat().st_mtime_ns == changed and len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("what", ["folder", "file"])
def test_code_that_others_could_have_written_is_not_run(folder: Path, what: str) -> None:
    code_cache.write("x.cwasm", b"code")
    assert code_cache.read("x.cwasm") == b"code"
    (folder if what == "folder" else folder / "x.cwasm").chmod(0o777)
    assert code_cache.read("x.cwasm") is None


def test_a_link_in_place_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    code_cache.write("x.cwasm", b"code")
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert code_cache.read("x.cwasm") is None


def test_code_that_is_cut_short_or_of_another_release_is_compiled_anew(folder: Path) -> None:
    Code()
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1])
    assert code_cache.read(kept.name) is None
    code_cache.write(kept.name, b"not compiled code")
    Code()
    assert len(kept.read_bytes()) > 10_000


def test_only_a_few_files_are_kept_and_without_a_place_nothing_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        code_cache.write(f"{number}.cwasm", b"code")
    assert len(list(folder.iterdir())) == 8
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    code_cache.write("x.cwasm", b"code")
    assert code_cache.read("x.cwasm") is None

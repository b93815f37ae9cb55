from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from halfopen import Breakers
from support import PLAIN


@pytest.fixture(scope="session", autouse=True)
def cache() -> Iterator[None]:
    """Compiled code is kept here, not among the user's own files."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "XDG_CACHE_HOME", folder)
        yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "breakers.db"


@pytest.fixture
def breakers(file: Path) -> Iterator[Breakers]:
    with Breakers(file, policy=PLAIN) as made:
        yield made

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import PLAIN

from halfopen import Breakers


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "breakers.db"


@pytest.fixture
def breakers(file: Path) -> Iterator[Breakers]:
    with Breakers(file, policy=PLAIN) as made:
        yield made

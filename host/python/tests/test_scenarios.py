"""The handed scenarios hold, on memory and on a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from halfopen.replay import Replay, parse
from support import SCENARIOS


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
@pytest.mark.parametrize("place", ["memory", "file"])
def test_a_scenario_holds(scenario: Path, place: str, file: Path) -> None:
    replay = Replay("memory" if place == "memory" else f"sqlite:{file}")
    report = replay.run(parse(scenario.read_bytes()))
    assert [str(failure) for failure in report.failures] == []
    replay.close()


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) > 40

"""Replay files: sequences of steps on a virtual clock, with what is expected of them.

The format is described in `tests/scenarios/README.md` of the repository. Each run has an empty namespace of its own in
the store, which is removed afterwards. Nothing is answered from memory: every step asks the component.
"""

from .parse import Malformed, Scenario, parse
from .run import Failure, Replay, Report

__all__ = ["Failure", "Malformed", "Replay", "Report", "Scenario", "parse"]

"""Runs scenarios: takes the steps one by one, and compares what comes of them with what is expected."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from .. import offstage, ops
from ..breakers import Breakers
from ..clock import ManualClock
from ..errors import BreakerError, ComponentError, InvalidPolicy, StoreError
from ..instance import Op
from ..store import SqliteStore, resolved
from ..types import Admission, Decision, Inspection, PermitData, Probe, Receipt
from .expect import KINDS, REFUSED, Counts
from .judge import (
    Refused,
    compare,
    fits_acquire,
    fits_report,
    kind_of,
    shown_decision,
    shown_inspection,
    shown_receipt,
)
from .parse import Malformed, Scenario, Step
from .strict_json import quoted

T = TypeVar("T")


@dataclass(frozen=True)
class Failure:
    """An expectation that does not hold."""

    line: int
    """The line of the step in the file; the first line is 1."""
    wanted: str
    """What the file expects."""
    got: str
    """What came of it."""

    def __str__(self) -> str:
        return f"line {self.line}: wanted {self.wanted}, got {self.got}"


@dataclass
class Report:
    """What a run came to."""

    failures: list[Failure] = field(default_factory=list)
    """The expectations that do not hold, in the order of the file."""


class Replay:
    """Runs scenarios against the store at an address; a `restart` step opens it anew, unless it is in memory.

    What a run writes is gone when it is over, so no commit waits for the disk.
    """

    def __init__(self, address: str = "memory") -> None:
        self._address = address
        self._store = self._open()

    def _open(self) -> SqliteStore:
        return SqliteStore(resolved(self._address), busy_timeout=5.0, synchronous="normal")

    def reopened(self) -> SqliteStore:
        """The store, as another process would open it."""
        if not self._store.place.in_memory:
            self._store.close()
            self._store = self._open()
        return self._store

    def run(self, scenario: Scenario, show: Callable[[str], None] = lambda line: None) -> Report:
        """Runs a scenario to its end, and shows every answer as it comes.

        Raises `Malformed` where the component refuses the policy of the first line, and `BreakerError` where the store
        fails.
        """
        namespace = f"replay-{secrets.token_hex(16)}"
        try:
            return _Run(self, self._store, scenario, namespace, show).finish()
        finally:
            self._store.remove_namespace(namespace)

    def close(self) -> None:
        """Closes the store."""
        self._store.close()


class _Run:
    """A run through a scenario."""

    def __init__(
        self, replay: Replay, store: SqliteStore, scenario: Scenario, namespace: str, show: Callable[[str], None]
    ) -> None:
        self._replay = replay
        self._scenario = scenario
        self._namespace = namespace
        self._show = show
        self._clock = ManualClock()
        self._opened = 0
        self._permits: dict[tuple[str, str], PermitData] = {}
        self._report = Report()
        self._breakers = self._open(store)

    def _open(self, store: SqliteStore) -> Breakers:
        seed = self._scenario.seed + self._opened
        # A process that starts again draws other numbers.
        self._opened += 1
        try:
            return Breakers(
                "memory",
                policy=self._scenario.policy,
                namespace=self._namespace,
                local_admission=False,
                _clock=self._clock,
                _seed=seed,
                _store=store,
            )
        except InvalidPolicy as error:
            raise Malformed(1, str(error)) from error

    def finish(self) -> Report:
        for step in self._scenario.steps:
            self._clock.set(step.at)
            self._take(step)
        return self._report

    def _take(self, step: Step) -> None:
        if step.name == "acquire":
            self._acquire(step)
        elif step.name in ("report", "tally", "release", "renew"):
            self._report_with(step)
        elif step.name == "inspect":
            self._inspect(step)
        else:
            self._control(step)
        if step.state is None:
            return
        seen = self._ask(ops.inspect(step.dependency))
        if isinstance(seen, Refused):
            self._failed(step, f"state {step.state}", seen.text)
        elif seen.state != step.state:
            self._failed(step, f"state {step.state}", f"state {seen.state}")

    def _acquire(self, step: Step) -> None:
        counts = dict.fromkeys(KINDS, 0)
        wrong = None
        for number in range(1, step.times + 1):
            answer: Decision | Refused = self._ask(ops.acquire(step.dependency, step.by))
            if not isinstance(answer, Refused):
                counts[kind_of(answer)] += 1
                if isinstance(answer, (Admission, Probe)):
                    self._permits[step.dependency, step.keep_as] = answer.permit
            text = shown_decision(answer)
            if wrong is None and not fits_acquire(step.acquire, answer):
                wrong = text + _which(number, step.times)
            self._tell(step, text)
        if wrong is None and isinstance(step.acquire, Counts):
            amounts = step.acquire.amounts
            if not all(amount.fits(counts[kind]) for kind, amount in amounts.items()):
                wrong = ", ".join(f"{kind} {count}" for kind, count in counts.items())
        if wrong is not None:
            self._failed(step, "an answer" if step.acquire is None else str(step.acquire), wrong)

    def _report_with(self, step: Step) -> None:
        wanted = step.expect or "an answer"
        permit = self._permits.get((step.dependency, step.permit))
        if permit is None:
            got = f"no permit {quoted(step.permit)} for {quoted(step.dependency)}: no acquire has got one"
            self._tell(step, got)
            self._failed(step, wanted, got)
            return
        wrong = None
        for number in range(1, step.times + 1):
            answer = self._ask(_report_op(step, permit))
            text = shown_receipt(answer)
            if wrong is None and not fits_report(step.expect, answer, last=number == step.times):
                wrong = text + _which(number, step.times)
            self._tell(step, text)
        if wrong is not None:
            self._failed(step, wanted, wrong)

    def _inspect(self, step: Step) -> None:
        answer: Inspection | Refused = self._ask(ops.inspect(step.dependency))
        if isinstance(answer, Refused):
            if step.inspect != REFUSED or not answer.by_component:
                self._failed(step, "an inspection", answer.text)
        elif isinstance(step.inspect, str):
            self._failed(step, REFUSED, "an inspection")
        else:
            for key, wanted in (step.inspect or {}).items():
                fits, said, got = compare(key, wanted, answer)
                if not fits:
                    self._failed(step, said, got)
        self._tell(step, shown_inspection(answer))

    def _control(self, step: Step) -> None:
        answer: Receipt | Refused | None = None
        if step.name == "restart":
            self._breakers = self._open(self._replay.reopened())
        else:
            answer = self._ask(_control_op(step))
        if isinstance(answer, Refused):
            fits, text = step.expect == REFUSED and answer.by_component, answer.text
        else:
            fits, text = step.expect == "ok", "ok" if answer is None else f"ok; {answer.state}"
        if not fits:
            self._failed(step, str(step.expect), text)
        self._tell(step, text)

    def _ask(self, op: Op[T]) -> T | Refused:
        try:
            return offstage.run(lambda: self._breakers.room.perform(op).answer)
        except StoreError:
            # What the store did wrong ends the run; all else is for the expectation to judge.
            raise
        except ComponentError as error:
            return Refused(str(error), by_component=False)
        except BreakerError as error:
            return Refused(f"error: {error}", by_component=True)

    def _tell(self, step: Step, text: str) -> None:
        self._show(f"line {step.line}: at {step.at}: {step.name} {step.dependency} by {step.by}: {text}")

    def _failed(self, step: Step, wanted: str, got: str) -> None:
        self._report.failures.append(Failure(step.line, wanted, got))


def _which(number: int, times: int) -> str:
    return "" if times == 1 else f" (call {number} of {times})"


def _report_op(step: Step, permit: PermitData) -> Op[Receipt]:
    if step.name == "report":
        return ops.report(step.dependency, permit, step.outcome, step.took_ms)
    if step.name == "tally":
        return ops.report_tally(step.dependency, permit, step.tally)
    return (ops.renew if step.name == "renew" else ops.release)(step.dependency, permit)


def _control_op(step: Step) -> Op[Receipt]:
    if step.name == "configure":
        return ops.configure(step.dependency, step.policy)
    if step.name == "force":
        return ops.force(step.dependency, step.mode, step.lasting_ms, "")
    return (ops.reset if step.name == "reset" else ops.forget)(step.dependency)

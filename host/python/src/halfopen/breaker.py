"""One dependency's breaker: the operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from . import offstage, ops, workers
from .clock import Sent
from .errors import BreakerError, InvalidArgument, shown
from .guard import Guard
from .instance import Op
from .local import Local
from .permit import Permit
from .policy import Policy, kind
from .types import Admission, Deferral, Inspection, Mode, Outcome, PermitData, Probe, Receipt, Tally, Transition

if TYPE_CHECKING:
    from .breakers import Breakers
    from .room import Room

T = TypeVar("T")

# SQLite counts no further.
MOST_HISTORY = 1 << 62

# How often it is asked again when each lease has run out by the time it arrives.
_LATE = 3

# The bytes of a caller's name, at most; a longer one is for the component to refuse, whatever is known.
_LONGEST_CALLER = 64


class Breaker:
    """The breaker of one dependency, made by `Breakers.breaker`. It may be shared by threads and tasks.

    While the component's last answer holds (the policy's `fresh_ms`), calls are admitted and refused from this
    process's memory. Successes are counted there and handed over with the next failure, when that answer ends, or at
    the close. A process that crashes loses the successes that it has not handed over: never a failure, a lease or a
    change of state.

    Every operation raises `BreakerError` when it comes to nothing; it has then changed nothing.
    """

    def __init__(self, breakers: Breakers, dependency: str, caller: str | None = None) -> None:
        if caller is not None and not isinstance(caller, str):
            raise InvalidArgument(f"`caller` is a string, not {kind(caller)}")
        self._breakers = breakers
        self.dependency = dependency
        """The dependency."""
        self._caller = caller

    def __repr__(self) -> str:
        return f"<Breaker of {self.dependency!r}>"

    # Calls

    def guard(
        self,
        *,
        timeout: float | None = None,
        classify: Callable[[Exception], Outcome] | None = None,
        fallback: Callable[[Deferral], Any] | None = None,
    ) -> Guard:
        """What a call goes through: for `with`, `async with`, or as a decorator of a function or coroutine function.

        Raises `Deferred` where the call may not be made. See `Guard` for what counts as what, and for the arguments.
        """
        return Guard(self, timeout=timeout, classify=classify, fallback=fallback)

    def acquire(self) -> Permit | Deferral:
        """Asks whether a call may be made: from memory while the last answer holds, and the component otherwise. Of
        several threads that would ask at the same time one does, and the others go by its answer.

        The permit is to be settled with the outcome of the call; one that is left is given back.
        """
        answer = self.recall()
        return answer if answer is not None else offstage.run(self._acquire)

    def acquire_fresh(self) -> Permit | Deferral:
        """`acquire`, but of the component whatever is known in memory."""
        return offstage.run(self._acquire_fresh)

    async def acquire_async(self) -> Permit | Deferral:
        """`acquire` for async code: where the store has to be asked, another thread does that. A permit that arrives
        after whoever waits for it was cancelled is given back.
        """
        answer = self.recall()
        return answer if answer is not None else await self.elsewhere(self.acquire)

    def report(self, permit: PermitData, outcome: Outcome, took: float | None = None) -> Receipt:
        """Reports the outcome of a call made under a permit that was handed on, and how many seconds the call took.

        A report with a lease may be repeated: it counts once. A report without one must not be repeated once it may
        have reached the store. One that came too late is no error: see `Receipt.stale`.
        """
        return self._run(ops.report(self.dependency, permit, outcome, ops.milliseconds("took", took)))

    def report_tally(self, permit: PermitData, tally: Tally) -> Receipt:
        """Reports the outcomes of many calls without a lease at once. They are judged once, after all are counted."""
        return self._run(ops.report_tally(self.dependency, permit, tally))

    def renew(self, permit: PermitData) -> Receipt:
        """Lets a live lease start anew, now. Guards do that by themselves."""
        return self._run(ops.renew(self.dependency, permit), settle=False)

    def release(self, permit: PermitData) -> Receipt:
        """Gives a permit back unused."""
        return self._run(ops.release(self.dependency, permit))

    # Operating

    def inspect(self) -> Inspection:
        """Shows the dependency. It changes nothing and takes no lease."""
        return self._run(ops.inspect(self.dependency))

    def policy(self) -> tuple[Policy, bool]:
        """The policy that the dependency goes by, and whether it is its own (else that of the `Breakers`)."""
        return self._run(ops.policy(self.dependency))

    def configure(self, policy: Policy | Mapping[str, Any]) -> Receipt:
        """Gives the dependency a policy of its own. What a mapping leaves out has its built-in default."""
        return self._run(ops.configure(self.dependency, Policy.of(policy)))

    def force(self, mode: Mode, *, lasting: float | None = None, note: str = "") -> Receipt:
        """Forces a state, or takes that back (`none`). With `lasting` it ends by itself after so many seconds. The note
        is up to 100 bytes. After forced open a probe is due at once: recovery is proven, not assumed.
        """
        return self._run(ops.force(self.dependency, mode, ops.milliseconds("lasting", lasting), note))

    def reset(self) -> Receipt:
        """Closes the breaker and lets it forget what was; the policy stays. Also mends a damaged record."""
        return self._run(ops.reset(self.dependency))

    def forget(self) -> Receipt:
        """Removes the record and its policy. What was out stays stale. Also removes a damaged record."""
        return self._run(ops.forget(self.dependency))

    def prune(self, idle: float) -> bool:
        """Removes the record, and returns whether it did: only while it is closed, with nothing forced and no policy of
        its own, and only if nothing was written to it for so many seconds.
        """
        return self._run(ops.prune(self.dependency, ops.milliseconds("idle", idle) or 0))

    def history(self, limit: int = 1_000) -> list[Transition]:
        """The last transitions, oldest first."""
        room, dependency = self.room, ops.known_as(self.dependency)
        most = min(ops.at_least_0("limit", limit), MOST_HISTORY)
        return offstage.run(lambda: room.store.history(room.settings.namespace, dependency, most))

    # What the parts of this package share

    @property
    def room(self) -> Room:
        """What this process has. Not for users."""
        return self._breakers.room

    def now(self) -> int:
        """The instant, in ms. Not for users."""
        return self.room.clock.now()

    def left_behind(self, permit: PermitData) -> None:
        """Has a permit given back, from its finalizer. Not for users."""
        room, dependency = self._breakers.present_room, self.dependency
        if room is not None and room.housekeeper.runs:
            room.housekeeper.do(lambda: room.give_back(dependency, permit))

    async def elsewhere(self, work: Callable[[], T]) -> T:
        """Does something that blocks on another thread, to its end. Not for users."""
        # A permit among its results gives itself back where nobody takes it.
        return await workers.run(work)

    def recall(self) -> Permit | Deferral | None:
        """What memory answers; none where the component has to be asked. Not for users."""
        room = self.room
        local = self._memory(room)
        found = None if local is None else local.recall(room.clock)
        if found is None:
            return None
        look, age, generation = found
        if not look.admits():
            return look.deferral(age)
        admission = look.admission
        assert admission is not None
        return self._permit(admission, look.sent, generation)

    def record(self, report: Op[Receipt], permit: PermitData, outcome: Outcome, slow: bool) -> Receipt:
        """Reports to the component now; a failure in one write with the successes before it. Not for users."""
        return offstage.run(lambda: self._record(report, permit, outcome, slow))

    # Its own

    def _record(self, report: Op[Receipt], permit: PermitData, outcome: Outcome, slow: bool) -> Receipt:
        room = self.room
        local = room.local(self.dependency)
        failed = permit.lease is None and outcome in ("failure", "timeout")
        due = local.drain() if local is not None and failed else None
        if local is None or due is None:
            return self._run(report, settle=not failed)
        if due.epoch != permit.epoch:
            room.hand_in(local, due)
            return self._run(report, settle=False)
        tally = due.tally(failures=int(not slow), slow_failures=int(slow))
        try:
            return self._run(ops.report_tally(self.dependency, permit, tally), settle=False)
        except BreakerError:
            local.put_back(due)
            raise

    def _acquire(self) -> Permit | Deferral:
        room = self.room
        local = self._memory(room)
        while True:
            answer = self.recall()
            if answer is not None:
                return answer
            if local is None:
                return self._ask(room, None, 0)
            ticket = local.enter()
            if ticket is not None:
                return self._ask_for_all(room, local, ticket)

    def _acquire_fresh(self) -> Permit | Deferral:
        room = self.room
        local = self._memory(room)
        if local is None:
            return self._ask(room, None, 0)
        room.hand_over(local)
        return self._ask_for_all(room, local, local.enter(at_once=True) or 0, look_first=False)

    def _memory(self, room: Room) -> Local | None:
        if self._caller is not None and len(self._caller.encode(errors="replace")) > _LONGEST_CALLER:
            return None
        return room.local(self.dependency)

    def _run(self, op: Op[T], *, settle: bool = True) -> T:
        return offstage.run(lambda: self._perform(op, settle))

    def _perform(self, op: Op[T], settle: bool) -> T:
        room = self.room
        local = room.local(self.dependency)
        if local is None:
            return room.perform(op).answer
        if settle:
            # So that who speaks to the store sees what this process has counted.
            room.hand_over(local)
        held = room.perform(op)
        room.hand_in(local, local.hear(held.answer, held.version))
        return held.answer

    def _ask_for_all(self, room: Room, local: Local, ticket: int, *, look_first: bool = True) -> Permit | Deferral:
        failed = True
        try:
            # Somebody may have had the answer in the meantime.
            answer = self.recall() if look_first else None
            answer = answer if answer is not None else self._ask(room, local, ticket)
            failed = False
            return answer
        finally:
            local.leave(failed=failed)

    def _ask(self, room: Room, local: Local | None, ticket: int) -> Permit | Deferral:
        caller = room.caller if self._caller is None else self._caller
        op = ops.acquire(self.dependency, caller)
        for _ in range(_LATE):
            sent = Sent.at(room.clock)
            held = room.perform(op)
            decision = held.answer
            generation = None
            if local is not None:
                generation, due = local.learn(ticket, decision, held.version, sent)
                room.hand_in(local, due)
                room.hand_over_soon(local)
            if isinstance(decision, Deferral):
                return decision
            if isinstance(decision, Admission):
                return self._permit(decision, sent, generation)
            if sent.ago(room.clock) < decision.expires_in_ms:
                return self._probe(room, decision, sent)
        raise BreakerError(
            f"a probe of {shown(self.dependency)} was granted, and its lease had run out before the answer arrived;"
            " give it a longer lease_ms"
        )

    def _permit(self, admission: Admission, sent: Sent, generation: int | None) -> Permit:
        return Permit(
            self,
            admission.permit,
            sent,
            percent=admission.percent,
            slower_than=admission.slower_than_ms,
            generation=generation,
        )

    def _probe(self, room: Room, probe: Probe, sent: Sent) -> Permit:
        # For the permit's sake, which may be left behind.
        room.housekeeper.start()
        permit = Permit(self, probe.permit, sent, expires_in=probe.expires_in_ms, slower_than=probe.slower_than_ms)
        room.probes.add(permit)
        return permit

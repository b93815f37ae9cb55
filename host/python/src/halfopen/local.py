"""Local admission: while the component's last answer holds, calls are admitted and refused from memory.

This holds no rule of the state machine. It keeps what the component said for as long as the component said, and counts
successes until they are handed over. One `Local` serves all breakers of a dependency in one process.

- A look never replaces one of a later version of the record, nor one that was begun before something ended it.
- Successes are counted for one epoch at a time. What was admitted in an older one is reported to the component, which
  finds it stale.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from .clock import Clock, Sent
from .look import Look
from .types import Decision, Inspection, Probe, Receipt, Tally


@dataclass(frozen=True)
class Due:
    """Successes that are due at the store, and the epoch that they were counted for."""

    epoch: int
    successes: int
    slow: int

    def tally(self, failures: int = 0, slow_failures: int = 0) -> Tally:
        """As the contract has it, with failures that came after them."""
        return Tally(self.successes, self.slow, failures, slow_failures)


class Local:
    """What this process knows of one dependency."""

    def __init__(self, dependency: str) -> None:
        self.dependency = dependency
        self.timer = 0
        """The number of the timer that will hand over what is counted; 0 where there is none."""
        self._look: Look | None = None
        # The main thread takes the lock by itself: of C, and so never left held by an interrupt.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._asking = 0
        # Whether an answer is likely to serve others too; where it is not, nobody waits for another's.
        self._shares = True
        # How often a look was ended before its time.
        self._ended = 0
        # The version of the record that the look rests on.
        self._version = 0
        # What is counted is counted in a generation, for one epoch.
        self._generation = 0
        self._counting: int | None = None
        self._successes = 0
        self._slow = 0

    def recall(self, clock: Clock) -> tuple[Look, int, int] | None:
        """The look, how old it is and its generation; none where the component has to be asked."""
        look, generation = self._look, self._generation
        if look is None:
            return None
        age = look.age(clock)
        # A generation that was read too late only lets an outcome be reported that could have been counted.
        return None if age is None else (look, age, generation)

    def holds(self, generation: int, clock: Clock) -> bool:
        """Whether the look of a generation still holds."""
        found = self.recall(clock)
        return found is not None and found[2] == generation

    def left(self, clock: Clock) -> int:
        """For how many ms the look still holds."""
        found = self.recall(clock)
        return 0 if found is None else found[0].fresh_for - found[1]

    def generation_of(self, epoch: int) -> int | None:
        """The generation that calls of an epoch are counted in; none where they are not."""
        with self._lock:
            return self._generation if self._counting == epoch else None

    def enter(self, *, at_once: bool = False) -> int | None:
        """The right to ask, as a ticket to give back to `leave`. None where another has just asked, for whom this has
        waited: look again.
        """
        with self._lock:
            if not at_once and self._asking > 0 and self._shares:
                self._changed.wait()
                return None
            self._asking += 1
            return self._ended

    def leave(self, *, failed: bool = False) -> None:
        """Lets those go on who wait for the answer."""
        with self._lock:
            if failed:
                # Whoever waits asks by itself, and all at once.
                self._shares = False
            self._asking -= 1
            self._changed.notify_all()

    def learn(self, ticket: int, decision: Decision, version: int, sent: Sent) -> tuple[int | None, Due | None]:
        """Takes in the answer to an acquire: the generation that its call is counted in, and what was counted before,
        under another epoch.
        """
        look = Look.of(decision, sent)
        with self._lock:
            self._shares = look is not None or isinstance(decision, Probe)
            if self._ended != ticket or version < self._version:
                return None, None
            self._version = version
            due = self._count_for(None if look is None else look.epoch)
            self._look = look
            return (None if self._counting is None else self._generation), due

    def hear(self, answer: object, version: int) -> Due | None:
        """Ends the look where an answer speaks of another state than it does."""
        with self._lock:
            # Of what is older than the look, nothing is new.
            newer = version > self._version
            if isinstance(answer, Receipt):
                elsewhere = answer.state != "closed" or not answer.applied
                other = bool(answer.transitions) or (newer and elsewhere)
            elif isinstance(answer, Inspection):
                other = newer and self._counting != answer.epoch
            else:
                other = answer is True
            return self._end() if other else None

    def end(self) -> Due | None:
        """Ends the look before its time. What was counted under it comes back."""
        with self._lock:
            return self._end()

    def count(self, generation: int, slow: bool) -> bool:
        """Counts a success; false where its generation is over."""
        with self._lock:
            if generation != self._generation or self._counting is None:
                return False
            if slow:
                self._slow += 1
            else:
                self._successes += 1
            return True

    def drain(self) -> Due | None:
        """Takes out what was counted."""
        with self._lock:
            return self._take()

    def put_back(self, due: Due) -> None:
        """Puts back what could not be handed over. What is of another epoch by now would be stale anyhow."""
        with self._lock:
            if self._counting == due.epoch:
                self._successes += due.successes
                self._slow += due.slow

    def has_counts(self) -> bool:
        """Whether anything is counted that the store has not been told."""
        return self._successes > 0 or self._slow > 0

    def _end(self) -> Due | None:
        self._ended += 1
        due = self._count_for(None)
        self._look = None
        return due

    def _count_for(self, epoch: int | None) -> Due | None:
        if self._counting == epoch:
            return None
        due = self._take()
        self._generation += 1
        self._counting = epoch
        return due

    def _take(self) -> Due | None:
        if self._counting is None or not self.has_counts():
            return None
        due = Due(self._counting, self._successes, self._slow)
        self._successes = self._slow = 0
        return due

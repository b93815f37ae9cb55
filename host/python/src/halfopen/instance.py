"""An instance of the component: runs one exported call at a time on a view of the record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from wasmtime import Store, Trap, WasmtimeError
from wasmtime.component import Func, Linker, Variant

from . import convert
from .component import Code
from .errors import BreakerError, ComponentError
from .policy import Policy
from .types import Transition

T = TypeVar("T")

_PACKAGE = "halfopen:breaker/{}@0.1.0"

# A call takes some 10,000 instructions; a component that loops is stopped after this many, within about a second.
_FUEL = 500_000_000

# How much memory an instance may have, in bytes.
_MEMORY = 16 << 20


@dataclass(frozen=True)
class Snapshot:
    """A record at a version. The version of a missing record is the highest that was ever given."""

    version: int
    data: bytes | None


@dataclass
class Change:
    """What an exported call wrote."""

    commits: int = 0
    """How many commits it made, one after the other; each raises the version by one."""
    data: bytes | None = None
    """The record after the last of them; none where that removed it."""
    transitions: list[Transition] = field(default_factory=list)


@dataclass(frozen=True)
class Op(Generic[T]):
    """An exported call on one dependency, as a value, so that it can be run again."""

    dependency: str
    interface: str
    name: str
    arguments: tuple[Any, ...]
    convert: Callable[[Any], T]
    """Makes the answer out of what the component returned."""


class _Guest:
    """The host's side of an instance: the view that a call sees, and what it wrote.

    No exception may leave an import: the component would be left in the middle. So what goes wrong is kept, the
    component is told that the store failed, and the instance is thrown away.
    """

    def __init__(self, now: Callable[[], int], random: Callable[[], int]) -> None:
        self.now = now
        self.random = random
        self.dependency = ""
        self.view = Snapshot(0, None)
        self.change: Change | None = None
        self.written = 0
        self.failed: BaseException | None = None

    def version(self) -> int:
        return self.view.version + (self.change.commits if self.change else 0)

    def snapshot(self) -> Any:
        data = self.change.data if self.change else self.view.data
        return convert.record(version=self.version(), data=data)

    def load(self, _store: Any, dependency: str) -> Any:
        return self._guarded(lambda: self._about(dependency) or self.snapshot())

    def commit(self, _store: Any, dependency: str, based_on: int, data: bytes | None, made: list[Any]) -> Any:
        return self._guarded(lambda: self._about(dependency) or self._commit(based_on, data, made))

    def _commit(self, based_on: int, data: bytes | None, made: list[Any]) -> Any:
        if based_on != self.version():
            return self.snapshot()
        if self.change is not None and self.change.data is None:
            # A removal takes the history with it; one write cannot say that and have a history of its own.
            return Variant("denied", "a call that has removed its record writes no more")
        self.written += len(data or b"") + 64 * len(made)
        if self.written > _MEMORY:
            return Variant("denied", "a call writes no more than its instance may have of memory")
        transitions = [convert.transition_out(transition) for transition in made]
        self.change = self.change or Change()
        self.change.commits += 1
        self.change.data = data
        self.change.transitions.extend(transitions)
        return self.version()

    def _about(self, dependency: str) -> Variant | None:
        if dependency == self.dependency:
            return None
        return Variant("denied", "a call reads and writes the record of its own dependency only")

    def _guarded(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except BaseException as error:
            self.failed = error
            return Variant("other", "the host failed")


class Instance:
    """An instance with its store. After a failure it must not be used again."""

    def __init__(self, code: Code, policy: Policy, now: Callable[[], int], random: Callable[[], int]) -> None:
        self._guest = guest = _Guest(now, random)
        linker = Linker(code.engine)
        with linker.root() as root:
            with root.add_instance(_PACKAGE.format("storage")) as storage:
                storage.add_func("load", guest.load)
                storage.add_func("commit", guest.commit)
            with root.add_instance(_PACKAGE.format("clock")) as clock:
                clock.add_func("now", lambda _store: guest.now())
            with root.add_instance(_PACKAGE.format("entropy")) as entropy:
                entropy.add_func("next", lambda _store: guest.random())
        self._store = Store(code.engine)
        self._store.set_limits(memory_size=_MEMORY, table_elements=10_000, instances=100, tables=100, memories=100)
        self._store.set_fuel(_FUEL)
        self._funcs: dict[tuple[str, str], Func] = {}
        try:
            self._instance = linker.instantiate(self._store, code.component)
            answer = self._func("setup", "set-default-policy")(self._store, convert.policy_in(policy))
        except WasmtimeError as error:
            raise _fault(error) from error
        if isinstance(answer, Variant):
            raise convert.error_out(answer, "")

    def run(self, op: Op[T], view: Snapshot) -> tuple[T, Change | None]:
        """Runs an exported call on a view of the record, and returns its answer and what it wrote. Nothing of that
        reaches a store.

        Raises the `BreakerError` that the component answered; after any other exception the instance is of no use.
        """
        guest = self._guest
        guest.dependency, guest.view = op.dependency, view
        guest.change, guest.written, guest.failed = None, 0, None
        self._store.set_fuel(_FUEL)
        try:
            answer = self._func(op.interface, op.name)(self._store, op.dependency, *op.arguments)
        except WasmtimeError as error:
            raise guest.failed or _fault(error) from error
        if guest.failed is not None:
            raise guest.failed
        if isinstance(answer, Variant) and answer.tag == "ok":
            answer = answer.payload
        elif isinstance(answer, Variant):
            refused = answer.payload if answer.tag == "err" else answer
            raise Refused(convert.error_out(refused, op.dependency))
        return op.convert(answer), guest.change

    def _func(self, interface: str, name: str) -> Func:
        func = self._funcs.get((interface, name))
        if func is None:
            index = self._instance.get_export_index(self._store, _PACKAGE.format(interface))
            found = self._instance.get_export_index(self._store, name, index) if index else None
            func = self._instance.get_func(self._store, found) if found else None
            if func is None:
                raise ComponentError(f"the component does not export {interface}.{name}; install the package anew")
            self._funcs[interface, name] = func
        return func


class Refused(Exception):
    """The component answered an error: the instance is as good as before."""

    def __init__(self, error: BreakerError) -> None:
        self.error = error
        super().__init__(error)


def _fault(error: WasmtimeError) -> ComponentError:
    if isinstance(error, Trap):
        return ComponentError(f"the component trapped and is replaced: {error.message}")
    return ComponentError(f"the component failed and is replaced: {error}")

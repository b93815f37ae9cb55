"""Making a call through a breaker: `with`, `async with`, and as a decorator."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .errors import BreakerError, CallTimedOut, Deferred, InvalidArgument
from .lease import LeaseKeeper
from .ops import OUTCOMES
from .permit import Permit
from .types import Deferral, Outcome

if TYPE_CHECKING:
    from .breaker import Breaker

F = TypeVar("F", bound=Callable[..., Any])

_log = logging.getLogger("halfopen")


class Guard:
    """What a call goes through. It asks, lets the call be made if it may be, and reports how it ended:

    - no exception: a success; an exception: a failure; a `TimeoutError`: a timeout. `classify` gets any `Exception` and
      says otherwise: `"success"`, `"failure"`, `"timeout"` or `"ignored"`;
    - `KeyboardInterrupt`, `CancelledError`, `SystemExit` and a `Deferred` of another breaker: ignored;
    - whatever was reported by hand, with the permit.

    With a `timeout` in seconds an async call is cut off, reported as a timeout, and raises `CallTimedOut`; a blocking
    call cannot be cut off: one that took so long or longer is reported as a timeout, and its result is returned.

    While a probe runs its lease is renewed. Failing to report never hides how the call ended: it is only logged.

    In `with` and `async with` the permit is what comes behind `as`. A guard is entered once at a time; as a decorator
    it serves any number of calls at a time. There `fallback` gets the deferral, and what it returns the caller gets.
    """

    def __init__(
        self,
        breaker: Breaker,
        *,
        timeout: float | None = None,
        classify: Callable[[Exception], Outcome] | None = None,
        fallback: Callable[[Deferral], Any] | None = None,
    ) -> None:
        if timeout is not None and (isinstance(timeout, bool) or not timeout > 0):
            raise InvalidArgument(f"`timeout` is {timeout!r}; it must be more than 0 seconds")
        self._breaker = breaker
        self._timeout = timeout
        self._classify = classify
        self._fallback = fallback
        self._entered: _Call | None = None

    def __enter__(self) -> Permit:
        answer = self._breaker.acquire()
        if isinstance(answer, Deferral):
            raise Deferred(self._breaker.dependency, answer)
        return self._begin(answer).permit

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end().settle(error)

    async def __aenter__(self) -> Permit:
        answer = await self._breaker.acquire_async()
        if isinstance(answer, Deferral):
            raise Deferred(self._breaker.dependency, answer)
        call = self._begin(answer)
        if self._timeout is not None:
            call.deadline = _Deadline(self._timeout)
        return call.permit

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        call = self._end()
        cut_off = call.deadline is not None and call.deadline.ends(error)
        await call.settle_async("timeout" if cut_off else None, error)
        if cut_off and self._timeout is not None:
            raise CallTimedOut(self._timeout) from error

    def __call__(self, function: F) -> F:
        """Decorates a function, or a coroutine function: each call of it goes through the breaker."""
        if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
            raise InvalidArgument(f"{function.__qualname__} is a generator; use `with` or `async with` inside it")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def through_async(*args: Any, **kwargs: Any) -> Any:
                guard = self._anew()
                try:
                    await guard.__aenter__()
                except Deferred as deferred:
                    return self._instead(deferred)
                return await guard._inside(function(*args, **kwargs))

            return cast(F, through_async)

        @functools.wraps(function)
        def through(*args: Any, **kwargs: Any) -> Any:
            guard = self._anew()
            try:
                guard.__enter__()
            except Deferred as deferred:
                return self._instead(deferred)
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                guard.__exit__(type(error), error, error.__traceback__)
                raise
            guard.__exit__(None, None, None)
            return result

        return cast(F, through)

    async def _inside(self, work: Any) -> Any:
        try:
            result = await work
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        await self.__aexit__(None, None, None)
        return result

    def _anew(self) -> Guard:
        return Guard(self._breaker, timeout=self._timeout, classify=self._classify)

    def _instead(self, deferred: Deferred) -> Any:
        if self._fallback is None:
            raise deferred
        return self._fallback(deferred.deferral)

    def _begin(self, permit: Permit) -> _Call:
        if self._entered is not None:
            permit.release()
            raise RuntimeError("this guard is entered already; make one for each call with breaker.guard()")
        self._entered = call = _Call(self._breaker, permit, self._timeout, self._classify)
        return call

    def _end(self) -> _Call:
        call, self._entered = self._entered, None
        if call is None:
            raise RuntimeError("this guard was not entered")
        return call


class _Call:
    """One call under way."""

    def __init__(
        self,
        breaker: Breaker,
        permit: Permit,
        timeout: float | None,
        classify: Callable[[Exception], Outcome] | None,
    ) -> None:
        self.permit = permit
        self.deadline: _Deadline | None = None
        self._breaker = breaker
        self._timeout = timeout
        self._classify = classify
        lease = permit.lease_ms
        self._keeper = None if lease is None else LeaseKeeper(breaker, permit.data, lease)
        self._begun = time.monotonic()

    def settle(self, error: BaseException | None) -> None:
        """Reports how it ended, unless that was done by hand."""
        took = self._stop()
        if self.permit.settled:
            return
        outcome = self._outcome(error)
        if outcome != "ignored" and self._timeout is not None and took >= self._timeout:
            outcome = "timeout"
        try:
            self.permit.report(outcome, took)
        except BreakerError as failed:
            self._unreported(failed)

    async def settle_async(self, outcome: Outcome | None, error: BaseException | None) -> None:
        """The same; the store is written on another thread."""
        took = self._stop()
        if self.permit.settled:
            return
        try:
            await self.permit.report_async(outcome or self._outcome(error), took)
        except BreakerError as failed:
            self._unreported(failed)

    def _stop(self) -> float:
        if self._keeper is not None:
            self._keeper.stop()
        return time.monotonic() - self._begun

    def _outcome(self, error: BaseException | None) -> Outcome:
        if error is None:
            return "success"
        if not isinstance(error, Exception) or isinstance(error, (Deferred, asyncio.CancelledError)):
            return "ignored"
        if self._classify is not None:
            try:
                said = self._classify(error)
            except Exception:
                _log.exception("classify failed; the call counts as a failure")
                return "failure"
            if said in OUTCOMES:
                return said
            _log.error("classify answered %r, which is no outcome; the call counts as a failure", said)
            return "failure"
        return "timeout" if isinstance(error, (TimeoutError, asyncio.TimeoutError)) else "failure"

    def _unreported(self, error: BreakerError) -> None:
        _log.warning("the outcome of a call of %s could not be reported: %s", self._breaker.dependency, error)


class _Deadline:
    """Cuts off the task that makes it, after so many seconds."""

    def __init__(self, limit: float) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a time limit needs a task to cut off")
        self._task = task
        self._cut_off = False
        self._cancelled_before = task.cancelling() if sys.version_info >= (3, 11) else 0
        self._timer = asyncio.get_running_loop().call_later(limit, self._cut)

    def _cut(self) -> None:
        self._cut_off = True
        self._task.cancel()

    def ends(self, error: BaseException | None) -> bool:
        """Stops it, and tells whether it was what ended the call, and nobody else's cancelling."""
        self._timer.cancel()
        if not self._cut_off:
            return False
        others = sys.version_info >= (3, 11) and self._task.uncancel() > self._cancelled_before
        return isinstance(error, asyncio.CancelledError) and not others

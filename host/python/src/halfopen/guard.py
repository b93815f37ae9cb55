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

from . import ops
from .errors import BreakerError, CallTimedOut, Deferred, InvalidArgument
from .lease import LeaseKeeper
from .permit import Permit
from .policy import kind as kind_of
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
    it serves any number of calls at a time. There, and only there, `fallback` gets the deferral, and what it returns
    the caller gets; it may be a coroutine function where what is decorated is one. A call with wrong arguments is
    ignored.
    """

    def __init__(
        self,
        breaker: Breaker,
        *,
        timeout: float | None = None,
        classify: Callable[[Exception], Outcome] | None = None,
        fallback: Callable[[Deferral], Any] | None = None,
    ) -> None:
        ops.milliseconds("timeout", timeout)
        if timeout is not None and not timeout > 0:
            raise InvalidArgument(f"`timeout` is {timeout}; it must be more than 0 seconds")
        for name, function in (("classify", classify), ("fallback", fallback)):
            if function is not None and not callable(function):
                raise InvalidArgument(f"`{name}` is a function, not {kind_of(function)}")
        self._breaker = breaker
        self._timeout = None if timeout is None else float(timeout)
        self._classify = classify
        self._fallback = fallback
        self._entered: _Call | None = None

    def __enter__(self) -> Permit:
        self._refuse_fallback()
        return self._enter()

    def _enter(self) -> Permit:
        answer = self._breaker.acquire()
        if isinstance(answer, Deferral):
            raise Deferred(self._breaker.dependency, answer)
        return self._begin(answer).permit

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._leave(error)

    def _leave(self, error: BaseException | None, outcome: Outcome | None = None) -> None:
        self._end().settle(outcome, error)

    async def __aenter__(self) -> Permit:
        self._refuse_fallback()
        return await self._enter_async()

    async def _enter_async(self) -> Permit:
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
        await self._leave_async(error)

    async def _leave_async(self, error: BaseException | None, outcome: Outcome | None = None) -> None:
        call = self._end()
        cut_off = call.deadline is not None and call.deadline.ends(error)
        await call.settle_async("timeout" if cut_off else outcome, error)
        if cut_off and self._timeout is not None:
            raise CallTimedOut(self._timeout) from error

    def __call__(self, function: F) -> F:
        """Decorates a function, or a coroutine function: each call of it goes through the breaker."""
        if isinstance(function, (classmethod, staticmethod)):
            raise InvalidArgument(f"this guard is above @{type(function).__name__}; write it below")
        if not callable(function):
            raise InvalidArgument(f"a guard decorates a function, not {kind_of(function)}")
        if any(is_generator(function) for is_generator in (inspect.isasyncgenfunction, inspect.isgeneratorfunction)):
            name = getattr(function, "__qualname__", repr(function))
            raise InvalidArgument(f"{name} is a generator; use `with` or `async with` inside it")
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):

            @functools.wraps(function)
            async def through_async(*args: Any, **kwargs: Any) -> Any:
                guard = self._anew()
                try:
                    await guard._enter_async()
                except Deferred as deferred:
                    answer = self._instead(deferred)
                    return await answer if inspect.isawaitable(answer) else answer
                try:
                    result = await function(*args, **kwargs)
                except BaseException as error:
                    await guard._leave_async(error, _if_never_called(function, args, kwargs, error))
                    raise
                await guard._leave_async(None)
                return result

            return cast(F, through_async)

        @functools.wraps(function)
        def through(*args: Any, **kwargs: Any) -> Any:
            guard = self._anew()
            try:
                guard._enter()
            except Deferred as deferred:
                return self._instead(deferred)
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                guard._leave(error, _if_never_called(function, args, kwargs, error))
                raise
            if inspect.iscoroutine(result):
                # Nothing of the call has been made yet, and perhaps nothing ever will be.
                guard._leave(None, "ignored")
                result.close()
                name = getattr(function, "__qualname__", repr(function))
                raise InvalidArgument(f"{name} returns a coroutine; decorate the `async def` itself")
            guard._leave(None)
            return result

        return cast(F, through)

    def _refuse_fallback(self) -> None:
        if self._fallback is not None:
            raise InvalidArgument("`fallback` is for decorated functions; around a block, catch `Deferred`")

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

    def settle(self, outcome: Outcome | None, error: BaseException | None) -> None:
        """Reports how it ended, unless that was done by hand."""
        took = time.monotonic() - self._begun
        try:
            if not self.permit.settled:
                self.permit.report(outcome or self._judged(error, took), took)
        except BreakerError as failed:
            self._unreported(failed)
        finally:
            self._stop()

    async def settle_async(self, outcome: Outcome | None, error: BaseException | None) -> None:
        """The same; the store is written on another thread."""
        took = time.monotonic() - self._begun
        try:
            if not self.permit.settled:
                await self.permit.report_async(outcome or self._judged(error, took), took)
        except BreakerError as failed:
            self._unreported(failed)
        finally:
            self._stop()

    def _stop(self) -> None:
        # Not before the report is through: others may keep it waiting for longer than the lease has left.
        if self._keeper is not None:
            self._keeper.stop()

    def _judged(self, error: BaseException | None, took: float) -> Outcome:
        outcome = self._outcome(error)
        late = self._timeout is not None and took >= self._timeout
        return "timeout" if late and outcome != "ignored" else outcome

    def _outcome(self, error: BaseException | None) -> Outcome:
        if error is None:
            return "success"
        if _says_nothing(error):
            return "ignored"
        assert isinstance(error, Exception)
        if self._classify is not None:
            try:
                said = self._classify(error)
            except Exception:
                _log.exception("classify failed; the call counts as a failure")
                return "failure"
            if said in ops.OUTCOMES:
                return said
            _log.error("classify answered %r, which is no outcome; the call counts as a failure", said)
            return "failure"
        return "timeout" if isinstance(error, (TimeoutError, asyncio.TimeoutError)) else "failure"

    def _unreported(self, error: BreakerError) -> None:
        _log.warning("the outcome of a call of %s could not be reported: %s", self._breaker.dependency, error)


def _says_nothing(error: BaseException) -> bool:
    """Whether it is no failure of the dependency; of a group, whether none in it is."""
    if sys.version_info >= (3, 11) and isinstance(error, BaseExceptionGroup):  # noqa: F821
        return all(map(_says_nothing, error.exceptions)) or not isinstance(error, Exception)
    return not isinstance(error, Exception) or isinstance(error, (Deferred, asyncio.CancelledError))


def _if_never_called(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: BaseException
) -> Outcome | None:
    """`ignored` where the function does not take these arguments: that says nothing of the dependency."""
    if not isinstance(error, TypeError) or error.__traceback__ is None or error.__traceback__.tb_next is not None:
        return None
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return "ignored"
    except ValueError:
        pass
    return None


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

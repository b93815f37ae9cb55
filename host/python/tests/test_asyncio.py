"""The same for asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from halfopen import Breakers, CallTimedOut, Deferral, Deferred, Permit
from support import PLAIN, trip


def run(work: Any) -> Any:
    return asyncio.run(work)


def test_a_block_and_a_coroutine_function_go_through_the_breaker(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    payments.configure({"consecutive_failures": 0, "failure_rate": None})

    @payments.guard()
    async def charge(amount: int) -> int:
        await asyncio.sleep(0)
        return amount

    async def work() -> None:
        async with payments.guard() as permit:
            assert isinstance(permit, Permit)
        assert await asyncio.gather(*(charge(number) for number in range(20))) == list(range(20))
        with pytest.raises(OSError):
            async with payments.guard():
                raise OSError

    run(work())
    seen = payments.inspect()
    assert (seen.calls, seen.failures) == (22, 1)
    assert asyncio.iscoroutinefunction(charge) or charge.__name__ == "charge"


def test_a_deferral_is_an_exception_or_a_value(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    trip(payments)

    @payments.guard(fallback=lambda deferral: deferral.reason)
    async def charge() -> str:
        return "charged"

    async def work() -> None:
        assert isinstance(await payments.acquire_async(), Deferral)
        assert await charge() == "open"
        with pytest.raises(Deferred):
            async with payments.guard():
                pytest.fail("it was not to be called")

    run(work())


@pytest.mark.parametrize("how", ["block", "decorator"])
def test_a_call_that_hangs_is_cut_off_and_reported_as_a_timeout(breakers: Breakers, how: str) -> None:
    payments = breakers.breaker("payments")

    async def hang() -> None:
        await asyncio.sleep(600)

    async def work() -> None:
        with pytest.raises(CallTimedOut, match="50 ms"):
            if how == "block":
                async with payments.guard(timeout=0.05):
                    await hang()
            else:
                await payments.guard(timeout=0.05)(hang)()
        await asyncio.sleep(0)

    run(work())
    assert payments.inspect().state == "open"


def test_a_call_that_is_cancelled_from_outside_says_nothing(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")

    async def hang() -> None:
        async with payments.guard(timeout=60):
            await asyncio.sleep(600)

    async def work() -> None:
        task = asyncio.create_task(hang())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work())
    assert (payments.inspect().state, payments.inspect().calls) == ("closed", 0)


def test_a_probe_that_is_cancelled_is_given_back_and_another_probes(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    payments.configure(PLAIN | {"lease_ms": 60_000, "probe_max_ms": 60_000})
    trip(payments)
    time.sleep(0.21)

    async def probe() -> None:
        async with payments.guard() as permit:
            assert permit.is_probe
            await asyncio.sleep(600)

    async def work() -> None:
        task = asyncio.create_task(probe())
        while not payments.inspect().leases:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work())
    # Where it was cancelled before the permit had arrived, that is given back a moment later.
    until = time.monotonic() + 10
    while payments.inspect().leases and time.monotonic() < until:
        time.sleep(0.01)
    answer = payments.acquire()
    assert isinstance(answer, Permit) and answer.is_probe
    answer.success()


def test_who_is_cancelled_while_asking_leaves_no_lease_behind(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    payments.configure(PLAIN | {"lease_ms": 60_000, "probe_max_ms": 60_000})
    trip(payments)
    time.sleep(0.21)

    async def work() -> None:
        task = asyncio.create_task(payments.acquire_async())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work())
    until = time.monotonic() + 10
    while (payments.inspect().leases or payments.inspect().state == "open") and time.monotonic() < until:
        time.sleep(0.01)
    assert (payments.inspect().state, payments.inspect().leases) == ("half-open", ())


def test_a_probes_lease_is_renewed_while_it_runs(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    payments.configure(PLAIN | {"lease_ms": 600})
    trip(payments)
    time.sleep(0.21)

    async def work() -> None:
        async with payments.guard():
            await asyncio.sleep(1.5)

    run(work())
    assert payments.inspect().state == "closed"


def test_the_loop_goes_on_while_the_store_is_waited_for(file: Path) -> None:
    with Breakers(file, policy=PLAIN, local_admission=False) as breakers, Breakers(file, policy=PLAIN) as other:
        payments = breakers.breaker("payments")

        async def work() -> int:
            permit = await payments.acquire_async()
            assert isinstance(permit, Permit)
            ticks = 0
            with other.room.store.transaction():
                report = asyncio.create_task(permit.report_async("failure"))
                for _ in range(20):
                    await asyncio.sleep(0.01)
                    ticks += 1
                assert not report.done()
            receipt = await report
            assert receipt is not None and receipt.state == "open"
            return ticks

        assert run(work()) == 20


def test_a_call_with_wrong_arguments_says_nothing_and_cuts_nobody_off_later(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    trip(payments)
    time.sleep(0.21)

    @payments.guard(timeout=0.05)
    async def charge(amount: int) -> int:
        return amount

    async def work() -> None:
        with pytest.raises(TypeError, match="amount"):
            await charge()  # type: ignore[call-arg]
        await asyncio.sleep(0.1)
        assert (payments.inspect().state, payments.inspect().leases) == ("half-open", ())
        assert await charge(5) == 5

    run(work())
    assert payments.inspect().state == "closed"


async def _block() -> str:
    time.sleep(0.06)
    return "late"


async def _swallow() -> str:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(600)
    return "late"


@pytest.mark.parametrize("body", [_block, _swallow])
def test_a_call_that_cannot_be_cut_off_counts_as_a_timeout_and_its_result_is_returned(
    breakers: Breakers, body: Callable[[], Awaitable[str]]
) -> None:
    payments = breakers.breaker("payments")

    async def work() -> None:
        assert await payments.guard(timeout=0.05)(body)() == "late"
        await asyncio.sleep(0)

    run(work())
    assert payments.inspect().state == "open"


def test_a_fallback_may_be_a_coroutine_function_and_what_is_decorated_an_object(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")

    class Charge:
        async def __call__(self, amount: int) -> int:
            await asyncio.sleep(0)
            raise OSError

    async def cached(deferral: Deferral) -> str:
        await asyncio.sleep(0)
        return deferral.reason

    async def work() -> None:
        charge: Any = payments.guard(fallback=cached)(Charge())
        with pytest.raises(OSError):
            await charge(5)
        assert await charge(5) == "open"

    run(work())


def test_the_applications_own_executor_is_left_alone(file: Path) -> None:
    with Breakers(file, policy=PLAIN, local_admission=False) as breakers:

        async def work() -> None:
            release = threading.Event()
            pool = concurrent.futures.ThreadPoolExecutor(1)
            asyncio.get_running_loop().set_default_executor(pool)
            full = asyncio.get_running_loop().run_in_executor(None, release.wait)
            try:
                async with breakers.breaker("payments").guard():
                    pass
            finally:
                release.set()
            await full

        run(work())
        assert breakers.breaker("payments").inspect().calls == 1


def test_a_report_that_nobody_waits_for_any_more_is_made_before_the_close(file: Path) -> None:
    with Breakers(file, policy=PLAIN) as other:
        breakers = Breakers(file, policy=PLAIN, local_admission=False)

        async def work() -> None:
            permit = await breakers.breaker("payments").acquire_async()
            assert isinstance(permit, Permit)
            with other.room.store.transaction():
                report = asyncio.create_task(permit.report_async("failure"))
                await asyncio.sleep(0.05)
                report.cancel()

        run(work())
        breakers.close()
        assert other.breaker("payments").inspect().state == "open"

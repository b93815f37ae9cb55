"""What a call through a breaker does, and what counts as what."""

from __future__ import annotations

import gc
import logging
import sys
import time
from decimal import Decimal
from typing import Any

import pytest

from halfopen import Breakers, Deferral, Deferred, InvalidArgument, Outcome, Permit
from support import PLAIN, admitted, trip


def counted(breakers: Breakers) -> tuple[int, int]:
    seen = breakers.breaker("payments").inspect()
    return seen.calls, seen.failures


@pytest.fixture
def tolerant(breakers: Breakers) -> Breakers:
    breakers.breaker("payments").configure({"consecutive_failures": 0, "failure_rate": None, "lease_ms": 2_000})
    return breakers


def test_a_block_that_ends_is_a_success_and_an_exception_in_it_a_failure(tolerant: Breakers) -> None:
    payments = tolerant.breaker("payments")
    with payments.guard():
        pass
    with pytest.raises(OSError, match="down"), payments.guard():
        raise OSError("down")
    assert counted(tolerant) == (2, 1)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_the_program_says_nothing_about_the_dependency(
    tolerant: Breakers, error: type[BaseException]
) -> None:
    with pytest.raises(error), tolerant.breaker("payments").guard():
        raise error
    assert counted(tolerant) == (0, 0)


def test_a_deferral_of_another_breaker_says_nothing_about_this_one(tolerant: Breakers) -> None:
    trip(tolerant.breaker("other"))
    with pytest.raises(Deferred), tolerant.breaker("payments").guard(), tolerant.breaker("other").guard():
        pass
    assert counted(tolerant) == (0, 0)


def test_the_caller_may_judge_exceptions_by_itself(tolerant: Breakers) -> None:
    def classify(error: Exception) -> Outcome:
        return "ignored" if isinstance(error, LookupError) else "failure"

    guard = tolerant.breaker("payments").guard(classify=classify)
    for error in (KeyError, OSError):
        with pytest.raises(error), guard:
            raise error
    assert counted(tolerant) == (1, 1)


def test_a_judgement_that_fails_or_is_none_counts_as_a_failure_and_hides_nothing(tolerant: Breakers) -> None:
    for classify in (lambda error: 1 / 0, lambda error: "fine"):
        with pytest.raises(OSError), tolerant.breaker("payments").guard(classify=classify):  # type: ignore[arg-type]
            raise OSError
    assert counted(tolerant) == (2, 2)


def test_an_outcome_reported_by_hand_is_the_one_that_counts(tolerant: Breakers) -> None:
    with tolerant.breaker("payments").guard() as permit:
        permit.failure()
    assert counted(tolerant) == (1, 1)


def test_a_call_that_takes_too_long_is_a_timeout_and_its_result_is_returned(breakers: Breakers) -> None:
    @breakers.breaker("payments").guard(timeout=0.01)
    def slow() -> str:
        time.sleep(0.02)
        return "late"

    assert slow() == "late"
    assert breakers.breaker("payments").inspect().state == "open"


def test_how_long_a_call_took_is_passed_along(tolerant: Breakers) -> None:
    payments = tolerant.breaker("payments")
    slow = {"slower_than_ms": 20, "percent": 100, "minimum_calls": 1_000}
    payments.configure({"slow_calls": slow, "failure_rate": None, "consecutive_failures": 0})
    with payments.guard() as permit:
        assert permit.slower_than == 0.02
        time.sleep(0.03)
    with payments.guard():
        pass
    permit = admitted(payments)
    permit.report("success", took=0.02)
    assert (payments.inspect().calls, payments.inspect().slow) == (3, 2)


def test_a_deferral_is_an_exception_from_a_guard_and_a_value_from_acquire(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    trip(payments)
    answer = payments.acquire()
    assert isinstance(answer, Deferral)
    assert answer.reason == "open" and 0 < answer.retry_after_ms <= 200
    with pytest.raises(Deferred) as caught, payments.guard():
        pytest.fail("it was not to be called")
    assert 0 < caught.value.retry_after <= 0.2
    assert "payments" in str(caught.value) and "open" in str(caught.value)


def test_who_is_told_to_come_back_is_told_a_random_moment_within_the_spread() -> None:
    deferral = Deferral(retry_after_ms=1_000, spread_ms=500, reason="open")
    drawn = {deferral.retry_after for _ in range(200)}
    assert len(drawn) > 50 and min(drawn) >= 1.0 and max(drawn) <= 1.5


def test_a_decorated_function_may_answer_something_else_when_it_is_deferred(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")

    @payments.guard(fallback=lambda deferral: deferral.reason)
    def charge() -> str:
        return "charged"

    assert charge() == "charged"
    assert charge.__name__ == "charge"
    trip(payments)
    assert charge() == "open"


def test_a_decorated_function_may_call_itself(tolerant: Breakers) -> None:
    @tolerant.breaker("payments").guard()
    def count_down(number: int) -> int:
        return 0 if number == 0 else count_down(number - 1)

    assert count_down(3) == 0
    assert counted(tolerant) == (4, 0)


def test_a_guard_is_entered_once_at_a_time(tolerant: Breakers) -> None:
    guard = tolerant.breaker("payments").guard()
    with guard, pytest.raises(RuntimeError, match="one for each call"):
        guard.__enter__()
    assert counted(tolerant) == (1, 0)
    with guard:
        pass


def test_a_generator_is_not_decorated_by_mistake(breakers: Breakers) -> None:
    def numbers():  # type: ignore[no-untyped-def]
        yield 1

    with pytest.raises(InvalidArgument, match="generator"):
        breakers.breaker("payments").guard()(numbers)


@pytest.mark.parametrize("timeout", [0, -1, True, float("nan")])
def test_a_time_limit_is_a_positive_number(breakers: Breakers, timeout: float) -> None:
    with pytest.raises(InvalidArgument, match="timeout"):
        breakers.breaker("payments").guard(timeout=timeout)


def test_failing_to_report_hides_neither_result_nor_exception(
    breakers: Breakers, caplog: pytest.LogCaptureFixture
) -> None:
    payments = breakers.breaker("payments")
    with caplog.at_level(logging.WARNING):

        @payments.guard()
        def closes() -> str:
            breakers.close()
            return "result"

        trip(payments)
        time.sleep(0.21)
        assert closes() == "result"
    assert "could not be reported" in caplog.text


def test_a_probe_has_a_token_that_rises_and_its_lease_is_renewed_while_it_runs(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    payments.configure(PLAIN | {"lease_ms": 600})
    tokens = []
    for _ in range(2):
        trip(payments)
        time.sleep(0.21)
        with payments.guard() as permit:
            assert permit.is_probe and permit.token is not None and permit.expires_in is not None
            tokens.append(permit.token)
            time.sleep(1.2)
            assert payments.inspect().leases[0].token == permit.token
        assert payments.inspect().state == "closed"
    assert tokens == sorted(set(tokens))


def test_a_permit_that_is_left_without_a_report_is_given_back(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    trip(payments)
    time.sleep(0.21)
    permit = admitted(payments)
    assert permit.is_probe and len(payments.inspect().leases) == 1
    del permit
    gc.collect()
    until = time.monotonic() + 10
    while payments.inspect().leases and time.monotonic() < until:
        time.sleep(0.01)
    assert payments.inspect().leases == ()
    assert isinstance(payments.acquire(), Permit)


def test_a_permit_that_is_handed_on_stays_out_and_can_be_reported_by_somebody_else(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    trip(payments)
    time.sleep(0.21)
    data = admitted(payments).hand_on()
    gc.collect()
    assert len(payments.inspect().leases) == 1
    assert breakers.breaker("payments").report(data, "success").state == "closed"
    assert payments.report(data, "success").stale == "already-reported"


def test_a_call_with_wrong_arguments_says_nothing_and_gives_the_probe_back(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    trip(payments)
    time.sleep(0.21)

    @payments.guard()
    def charge(amount: int) -> int:
        return amount

    with pytest.raises(TypeError, match="amount"):
        charge()  # type: ignore[call-arg]
    assert (payments.inspect().state, payments.inspect().leases) == ("half-open", ())
    assert charge(5) == 5
    assert payments.inspect().state == "closed"


def test_a_type_error_inside_the_call_is_a_failure(tolerant: Breakers) -> None:
    @tolerant.breaker("payments").guard()
    def charge() -> None:
        len(5)  # type: ignore[arg-type]

    with pytest.raises(TypeError):
        charge()
    assert counted(tolerant) == (1, 1)


@pytest.mark.parametrize(
    "timeout",
    [0, -1, float("nan"), float("inf"), pytest.param(10**5000, id="huge"), Decimal(1), "1", True, [1], 1j],
)
def test_a_time_limit_that_is_none_is_refused_before_anything_is_asked(breakers: Breakers, timeout: Any) -> None:
    with pytest.raises(InvalidArgument, match="timeout"):
        breakers.breaker("payments").guard(timeout=timeout)
    assert breakers.list() == []


def test_what_is_no_function_or_no_name_is_refused_when_it_is_given(breakers: Breakers) -> None:
    anything: Any = "log"
    with pytest.raises(InvalidArgument, match="classify"):
        breakers.breaker("payments").guard(classify=anything)
    with pytest.raises(InvalidArgument, match="fallback"):
        breakers.breaker("payments").guard(fallback=anything)
    number: Any = 5
    with pytest.raises(InvalidArgument, match="caller"):
        breakers.breaker("payments", caller=number)


def test_a_fallback_around_a_block_is_refused_rather_than_left_out(breakers: Breakers) -> None:
    with (
        pytest.raises(InvalidArgument, match="Deferred"),
        breakers.breaker("payments").guard(fallback=lambda deferral: 5),
    ):
        pytest.fail("it was not to be entered")


def test_what_a_guard_cannot_go_around_is_refused_at_decoration(breakers: Breakers) -> None:
    guard = breakers.breaker("payments").guard()
    anything: Any
    for anything in (classmethod(print), staticmethod(print)):
        with pytest.raises(InvalidArgument, match="below"):
            guard(anything)
    anything = 5
    with pytest.raises(InvalidArgument, match="function"):
        guard(anything)


def test_a_function_that_only_makes_a_coroutine_is_no_success(tolerant: Breakers) -> None:
    async def charge() -> None:
        pass

    with pytest.raises(InvalidArgument, match="async def"):
        _ = tolerant.breaker("payments").guard()(lambda: charge())()
    assert counted(tolerant) == (0, 0)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no groups here")
def test_a_group_of_deferrals_alone_says_nothing(tolerant: Breakers) -> None:
    from builtins import ExceptionGroup

    deferred = Deferred("other", Deferral(1, 0, "open"))
    for errors in ([deferred], [deferred, OSError()]):
        with pytest.raises(ExceptionGroup), tolerant.breaker("payments").guard():
            raise ExceptionGroup("several", errors)
    assert counted(tolerant) == (1, 1)


def test_a_permit_is_true_and_a_deferral_is_false(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    assert admitted(payments)
    trip(payments)
    assert not payments.acquire()

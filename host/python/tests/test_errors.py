"""Every error is typed, says what was wrong, where and what to do, and changes nothing."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import halfopen
from halfopen import (
    Breakers,
    CallTimedOut,
    ComponentError,
    Deferral,
    Deferred,
    FailureRate,
    HalfopenError,
    InvalidArgument,
    InvalidDependency,
    InvalidPolicy,
    PermitData,
    Policy,
    StoreUnavailable,
    Tally,
    Window,
)
from support import PLAIN, admitted

WORD: Any = "x"


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "n" * 257, "\ud800"])
def test_a_name_that_is_none_is_refused_by_every_operation(breakers: Breakers, name: str) -> None:
    breaker, permit = breakers.breaker(name), PermitData(0)
    operations: list[Callable[[], Any]] = [
        breaker.acquire,
        lambda: breaker.report(permit, "success"),
        lambda: breaker.report_tally(permit, Tally(1)),
        lambda: breaker.renew(permit),
        breaker.inspect,
        breaker.policy,
        lambda: breaker.configure({}),
        lambda: breaker.force("open"),
        breaker.reset,
        breaker.forget,
        lambda: breaker.prune(0),
    ]
    for operation in operations:
        with pytest.raises(InvalidDependency, match="is invalid: "):
            operation()
    assert breakers.list() == []


def test_a_name_of_256_bytes_and_any_letters_is_one(breakers: Breakers) -> None:
    for name in ("n" * 256, "é" * 128, "付款", "a b/c:d'e\"f%"):
        assert breakers.breaker(name).reset().applied
    assert "付款" in breakers.list()


def test_a_policy_is_refused_with_all_its_faults_named_as_in_the_file(file: Path) -> None:
    wrong = {"open_ms": -1, "probes": 101, "window": {"ms": 15}, "open_multiplier": float("nan")}
    with pytest.raises(InvalidPolicy) as caught:
        Breakers(file, policy=wrong)
    assert {field for field, _ in caught.value.faults} == {"open_ms", "probes", "window.ms", "open_multiplier"}
    with Breakers(file) as breakers:
        with pytest.raises(InvalidPolicy, match="probe_max_ms"):
            breakers.breaker("a").configure({"lease_ms": 10, "probe_max_ms": 5})
        with pytest.raises(InvalidPolicy, match="open_ms"):
            breakers.breaker("a").configure(Policy(open_ms=1 << 70))
        assert breakers.list() == []


@pytest.mark.parametrize(
    "policy",
    [
        {"open": 1},
        {"open_ms": "soon"},
        {"open_ms": True},
        {"failure_rate": {"percent": 50}},
        {"failure_rate": "on"},
        {"window": {}},
        {"window": {"ms": 10, "calls": 1}},
        {"lost_probe": "retry"},
        [1],
        "policy",
    ],
)
def test_what_has_not_the_form_of_a_policy_says_why(policy: Any) -> None:
    with pytest.raises(InvalidArgument):
        Breakers("memory", policy=policy)


def test_policies_are_read_from_files_and_mean_what_they_mean_to_the_program(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"open_ms": 7, "failure_rate": null, "window": {"calls": 100}}')
    policy = Policy.read(tmp_path / "p.json")
    assert (policy.open_ms, policy.failure_rate, policy.window.calls, policy.probes) == (7, None, 100, 1)
    assert Policy.of(policy.to_dict()) == policy
    for text in ("{", '{"open_msec": 1}', "[]"):
        (tmp_path / "wrong.json").write_text(text)
        with pytest.raises(InvalidArgument, match=r"wrong\.json"):
            Policy.read(tmp_path / "wrong.json")


def test_the_defaults_of_a_policy_are_the_components_own(breakers: Breakers) -> None:
    with Breakers("memory") as plain:
        assert plain.breaker("a").policy() == (Policy(), False)


@pytest.mark.parametrize(
    "call",
    [
        lambda b: b.report(PermitData(0), "fine"),
        lambda b: b.report(PermitData(-1), "success"),
        lambda b: b.report(PermitData(1 << 64), "success"),
        lambda b: b.report(PermitData(0, -1), "success"),
        lambda b: b.report((0, None), "success"),
        lambda b: b.report(PermitData(0), "success", took=-1),
        lambda b: b.report(PermitData(0), "success", took="1s"),
        lambda b: b.report(PermitData(0), "success", took=float("nan")),
        lambda b: b.report_tally(PermitData(0), Tally(-1)),
        lambda b: b.report_tally(PermitData(0), Tally(1.5)),  # type: ignore[arg-type]
        lambda b: b.force("ajar"),
        lambda b: b.force("open", lasting=-1),
        lambda b: b.force("open", note="n" * 101),
        lambda b: b.force("open", note=5),
        lambda b: b.prune(float("inf")),
    ],
)
def test_an_argument_that_is_out_of_range_is_refused(breakers: Breakers, call: Callable[[Any], Any]) -> None:
    with pytest.raises(InvalidArgument):
        call(breakers.breaker("payments"))
    assert breakers.list() == []


def test_a_callers_name_that_is_too_long_is_refused_whatever_is_known(breakers: Breakers) -> None:
    admitted(breakers.breaker("payments")).success()
    for _ in range(2):
        with pytest.raises(InvalidArgument, match="64"):
            breakers.breaker("payments", caller="n" * 65).acquire()
    admitted(breakers.breaker("payments", caller="n" * 64)).success()


def test_a_tally_with_a_lease_is_stale_and_an_empty_one_writes_nothing(breakers: Breakers) -> None:
    payments = breakers.breaker("payments")
    assert payments.report_tally(PermitData(0, 5), Tally(1)).stale is not None
    assert payments.report_tally(PermitData(0), Tally()).applied
    assert breakers.list() == []


def test_a_component_that_runs_too_long_is_stopped_and_the_next_call_works(
    breakers: Breakers, monkeypatch: pytest.MonkeyPatch
) -> None:
    payments = breakers.breaker("payments")
    with monkeypatch.context() as patch:
        patch.setattr("halfopen.instance._FUEL", 100)
        with pytest.raises(ComponentError, match="fuel"):
            payments.reset()
    assert breakers.list() == []
    assert payments.reset().applied
    assert len(payments.history()) == 1


def test_a_component_that_wants_too_much_memory_is_not_started(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfopen.instance._MEMORY", 1_000)
    with pytest.raises(ComponentError):
        Breakers(file)


def test_what_fails_inside_the_host_while_the_component_runs_is_raised_as_it_is(
    breakers: Breakers, monkeypatch: pytest.MonkeyPatch
) -> None:
    payments = breakers.breaker("payments")

    def fail(value: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("halfopen.convert.transition_out", fail)
        with pytest.raises(ZeroDivisionError):
            payments.reset()
    assert breakers.list() == []
    assert payments.reset().applied


def test_there_is_one_hierarchy_and_all_of_it_is_public() -> None:
    kinds = [kind for kind in vars(halfopen).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) > 12 and all(issubclass(kind, HalfopenError) for kind in kinds)
    assert all(kind.__name__ in halfopen.__all__ and kind.__doc__ for kind in kinds)


@pytest.mark.parametrize(
    "error",
    [
        Deferred("payments", Deferral(1_000, 500, "open")),
        CallTimedOut(2.0),
        InvalidDependency("", "it is empty"),
        InvalidPolicy([("open_ms", "too large")]),
        StoreUnavailable("a.db", "locked"),
    ],
)
def test_an_error_can_be_handed_to_another_process(error: HalfopenError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) and copy.__dict__ == error.__dict__


def test_without_its_component_the_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from halfopen import component

    component.component_bytes.cache_clear()
    monkeypatch.setattr("halfopen.component.resources.files", lambda package: Path("/missing"))
    with pytest.raises(ComponentError, match=r"scripts/component\.py"):
        component.component_bytes()
    component.component_bytes.cache_clear()


def test_a_wide_policy_goes_in_and_out_whole(breakers: Breakers) -> None:
    wide = Policy.of(
        PLAIN
        | {
            "failure_rate": {"percent": 1, "minimum_calls": 2},
            "slow_calls": {"slower_than_ms": 3, "percent": 4, "minimum_calls": 5},
            "window": {"calls": 6},
            "open_multiplier": 1.5,
            "lost_probe": "reopen",
            "ramp": {"over_ms": 7, "from_percent": 8},
        }
    )
    breakers.breaker("payments").configure(wide)
    assert breakers.breaker("payments").policy() == (wide, True)


def test_what_is_not_made_is_left_without_a_word(file: Path) -> None:
    anything: Any = {"unknown": 1}
    for _ in range(2):
        with pytest.raises(TypeError):
            Breakers(file, **anything)
        with pytest.raises(TypeError):
            halfopen.Permit(**anything)
        gc.collect()


@pytest.mark.parametrize(
    "call",
    [
        lambda file: Breakers("\ud800"),
        lambda file: Breakers(f"{file}\ud800"),
        lambda file: Breakers(file, namespace="\ud800"),
        lambda file: Breakers(file, caller="\ud800"),
        lambda file: Breakers(file, history=-1),
        lambda file: Breakers(file, policy=Policy(failure_rate=FailureRate(WORD, WORD))),
        lambda file: Breakers(file, policy={"failure_rate": FailureRate(WORD, WORD)}),
        lambda file: Breakers(file, policy={"window": Window(ms=WORD)}),
        lambda file: Breakers(file, policy=Policy(window=Window(ms=WORD))),
        lambda file: Breakers(file).breaker("payments").history(-1),
        lambda file: Breakers(file).breaker("payments").history(WORD),
        lambda file: Breakers(file).breaker("payments").report(PermitData(10**5000), "success"),
    ],
)
def test_what_has_no_form_that_a_store_or_a_policy_takes_is_an_invalid_argument(file: Path, call: Any) -> None:
    with pytest.raises(InvalidArgument):
        call(file)


def test_numbers_beyond_what_a_store_counts_to_are_as_good_as_the_largest(file: Path) -> None:
    with Breakers(file, history=1 << 70, busy_timeout=10**400) as breakers:
        assert breakers.breaker("payments").reset().applied
        assert len(breakers.breaker("payments").history(1 << 70)) == 1
    with Breakers(file) as breakers, pytest.raises(InvalidDependency):
        breakers.breaker("\ud800").history()


def test_a_fault_names_the_fields_as_they_are_called_here(file: Path) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        Breakers(file, policy={"lease_ms": 10_000, "probe_max_ms": 5_000, "open_ms": 10, "open_max_ms": 5})
    for name in ("lease_ms", "probe_max_ms", "open_ms", "open_max_ms"):
        assert name in str(caught.value)
    assert "-ms" not in str(caught.value)

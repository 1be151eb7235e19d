"""The ledger that fits charge where they are given none, and a fit that is charged twice."""

import asyncio
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from contextvars import copy_context
from pathlib import Path
from types import FrameType

import pytest

import dpstats as dps
from benchmarks.ledger_stress import FORK
from dpstats.errors import BudgetError, LedgerError
from dpstats.ledger import current, default

PLANT = dps.datasets.load("ccpp")
SMALL = dps.zcdp(0.01)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    dps.use_ledger(None)


def fit(term: str = "AT", budget: dps.budget.Budget = SMALL, **more: object) -> dps.Fit:
    return dps.ols(f"PE ~ {term}", PLANT.data, PLANT.schema).fit(budget, **more)


def test_every_fit_charges_the_ledger_that_is_used_and_says_so() -> None:
    assert fit().record.ledger is None
    ledger = dps.use_ledger("plant.ledger", total=dps.zcdp(0.05))
    assert ledger is current()
    found = fit()
    assert len(ledger.entries()) == 1 and found.record.ledger == ledger.line()
    assert "spent on 'plant'" in str(found.summary())
    times = dps.kaplan_meier("Surv(time, status) ~ 1", *drives(), times=[500, 1000])
    times.fit(SMALL)
    assert len(ledger.entries()) == 2
    with pytest.raises(BudgetError, match="is left of 0.05 in 'plant'"):
        fit(budget=dps.zcdp(0.04))
    assert "nothing adds up" not in str(found.summary())
    assert dps.use_ledger(None) is None
    uncounted = fit()
    assert uncounted.record.ledger is None
    assert "Ledger     none: nothing adds up across fits" in str(uncounted.summary())
    assert len(ledger.entries()) == 2


def test_a_ledger_that_is_open_may_be_used() -> None:
    ledger = dps.Ledger("open.ledger", total=dps.zcdp(1))
    assert dps.use_ledger(ledger) is ledger is current()
    fit()
    assert len(ledger.entries()) == 1
    with pytest.raises(LedgerError, match="leave them out with None or a Ledger"):
        dps.use_ledger(ledger, total=dps.zcdp(2))


def drives() -> tuple[object, dps.Schema]:
    data = dps.datasets.load("hdfail")
    return data.data.iloc[:2000], data.schema


def test_a_ledger_that_is_given_goes_before_the_default() -> None:
    default = dps.use_ledger("default.ledger", total=dps.zcdp(1))
    other = dps.Ledger("other.ledger", total=dps.zcdp(1))
    fit(ledger=other)
    fit(ledger="other.ledger", term="V")
    assert len(other.entries()) == 2 and not default.entries()


def test_a_with_block_charges_its_own_ledger_also_after_an_error() -> None:
    outer = dps.use_ledger("outer.ledger", total=dps.zcdp(1))
    inner = dps.Ledger("inner.ledger", total=dps.zcdp(1))
    with inner as entered, pytest.raises(ZeroDivisionError):
        assert entered is inner is current()
        with dps.Ledger("deep.ledger", total=dps.zcdp(1)) as deep:
            fit()
            raise ZeroDivisionError
    with inner:
        fit()
    fit()
    assert [len(ledger.entries()) for ledger in (outer, inner, deep)] == [1, 1, 1]


def test_inside_a_with_no_other_ledger_is_used_and_none_is_made() -> None:
    with (
        dps.Ledger("inner.ledger", total=dps.zcdp(1)) as inner,
        pytest.raises(LedgerError, match="fits charge 'inner', whose 'with' has not ended"),
    ):
        dps.use_ledger("other.ledger", total=dps.zcdp(1))
    assert inner.entries() == [] and not Path("other.ledger").exists() and current() is None


def test_threads_charge_it_too() -> None:
    ledger = dps.use_ledger("plant.ledger", total=dps.zcdp(1))
    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()
    assert len(ledger.entries()) == 1


def test_two_threads_charge_the_ledgers_that_they_entered() -> None:
    ledgers = [dps.Ledger(f"{name}.ledger", total=dps.zcdp(1)) for name in "ab"]
    both, done = threading.Barrier(2), threading.Barrier(2)

    def work(ledger: dps.Ledger) -> None:
        with ledger:
            both.wait(60)
            fit(term="AT" if ledger is ledgers[0] else "V")
            done.wait(60)

    threads = [threading.Thread(target=work, args=(ledger,)) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[entry.formula for entry in ledger.entries()] for ledger in ledgers] == [["PE ~ AT"], ["PE ~ V"]]
    assert current() is None


def test_a_thread_that_entered_none_charges_what_another_entered() -> None:
    with dps.Ledger("a.ledger", total=dps.zcdp(1)) as ledger:
        thread = threading.Thread(target=fit)
        thread.start()
        thread.join()
    assert len(ledger.entries()) == 1
    ledger.__exit__()
    assert current() is None


def interrupted(run: Callable[[], object], step: int, other: Callable[[], object]) -> bool:
    """Run one thing and, before its step of this number, another; say whether it came to that."""
    steps = iter(range(step + 1))
    before = sys.gettrace()

    def trace(frame: FrameType, event: str, what: object) -> object:
        if frame.f_code.co_filename != default.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and next(steps, None) == step:
            other()
        return trace

    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return next(steps, None) is None


@pytest.mark.parametrize("same", [False, True])
def test_a_thread_that_leaves_while_another_does_leaves_its_own_block(same: bool) -> None:
    """At whichever step of leaving or looking the other comes in between; contexts stand for threads."""
    ledgers = [dps.Ledger(f"{name}.ledger", total=dps.zcdp(1)) for name in "ab"]
    first, second = (ledgers[0], ledgers[0]) if same else ledgers
    for what in (lambda: second.__exit__(), current):
        for step in range(1000):
            other = copy_context()
            other.run(first.__enter__)
            second.__enter__()
            came = interrupted(what, step, lambda other=other, first=first: other.run(first.__exit__))
            if what is current:
                second.__exit__()
            if not came:
                other.run(first.__exit__)
            assert current() is None
            if not came:
                break
        assert 10 < step < 999


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize("inside", [True, False])
def test_a_process_that_is_forked_is_inside_no_block_of_another_thread(used: bool, inside: bool) -> None:
    """Nobody can leave it there; where nothing else is named fits charge its ledger, rather than none."""
    mine, other, own = (dps.Ledger(f"{n}.ledger", total=dps.zcdp(1)) for n in ("mine", "other", "own"))
    dps.use_ledger(mine if used else None)
    entered, done = threading.Event(), threading.Event()

    def hold() -> None:
        with other:
            entered.set()
            done.wait(60)

    def work() -> None:
        assert current() is (own if inside else mine if used else other)
        if inside:
            own.__exit__()
        assert current() is (mine if used else other)
        fit()
        dps.use_ledger(None)
        assert current() is None

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(60)
    with own if inside else nullcontext():
        process = FORK.Process(target=work)
        process.start()
        process.join(60)
    assert current() is other
    done.set()
    thread.join()
    assert process.exitcode == 0
    assert [len(one.entries()) for one in (mine, other, own)] == [int(used), int(not used), 0]
    assert current() is (mine if used else None)


def test_tasks_charge_the_ledgers_that_they_entered() -> None:
    async def work(ledger: dps.Ledger, term: str) -> None:
        with ledger:
            await asyncio.sleep(0.01)
            fit(term=term)
            await asyncio.sleep(0.01)

    async def both() -> None:
        await asyncio.gather(*(work(ledger, term) for ledger, term in zip(ledgers, ("AT", "V"), strict=True)))

    ledgers = [dps.Ledger(f"{name}.ledger", total=dps.zcdp(1)) for name in "ab"]
    asyncio.run(both())
    assert [[entry.formula for entry in ledger.entries()] for ledger in ledgers] == [["PE ~ AT"], ["PE ~ V"]]


def test_what_is_wrong_leaves_the_ledger_that_was_used() -> None:
    ledger = dps.use_ledger("plant.ledger", total=dps.zcdp(1))
    for wrong in (("missing.ledger",), ("plant.ledger", dps.zcdp(2)), (None, dps.zcdp(1))):
        with pytest.raises(LedgerError):
            dps.use_ledger(*wrong)
        assert current() is ledger


def test_the_same_fit_again_is_charged_again_and_warned_of() -> None:
    ledger = dps.Ledger("plant.ledger", total=dps.zcdp(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(ledger=ledger)
        fit(ledger=ledger, term="V")
        fit(ledger=ledger, budget=dps.zcdp(0.02))
        dps.ols("PE ~ AT", PLANT.data, PLANT.schema, subset="V > 50").fit(SMALL, ledger=ledger)
    assert ledger.entries()[-1].formula == "PE ~ AT, subset='V > 50'"
    with pytest.warns(UserWarning, match="'plant' was charged for the same before.* once more") as told:
        fit(ledger=ledger)
    assert told[0].filename == __file__
    assert len(ledger.entries()) == 5
    with warnings.catch_warnings(), pytest.raises(UserWarning):
        warnings.simplefilter("error")
        fit(ledger=ledger)
    assert len(ledger.entries()) == 5, "who makes errors of warnings does not pay for one"

"""Over all models, methods, budgets and ledgers: the ledger holds what is drawn, before it is."""

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.budget import Budget, Gdp, Pure
from dpstats.budget.rules import by_epsilon, by_pair, by_rho, by_square
from dpstats.errors import BudgetError, SpecificationError
from dpstats.testing import SeededNoise, noise
from tests.models import drives, late

N = 600
SCHEMA = dps.Schema(
    x=dps.bounded(-1, 1),
    z=dps.bounded(0, 2),
    group=dps.levels("a", "b"),
    good=dps.flag(),
    y=dps.bounded(-5, 5),
    count=dps.count(20),
    amount=dps.bounded(0.01, 50),
)


def table() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    x, z = draw.uniform(-1, 1, N), draw.uniform(0, 2, N)
    return pd.DataFrame(
        {
            "x": x,
            "z": z,
            "group": draw.choice(["a", "b"], N),
            "good": (x + draw.normal(size=N) > 0) * 1,
            "y": x - z + draw.normal(size=N),
            "count": draw.poisson(np.exp(0.5 * x)),
            "amount": np.exp(0.3 * x) * draw.gamma(2, 0.5, N),
        }
    )


DATA, DRIVES, LATE = table(), drives.drives(N), late.late(300)
PUBLIC = table().drop(columns=["good", "count", "amount"])
NEVER_CENSORED = {name: column for name, column in DRIVES.items() if name != "failed"}

Fitting = Callable[[Budget, Any], Any]


def asked(make: Callable[[], Any], **how: Any) -> Fitting:
    return lambda budget, ledger: make().fit(budget, ledger=ledger, **how)


def ols() -> Any:
    return dps.ols("y ~ x + z", DATA, SCHEMA, public=PUBLIC)


def logit(**more: Any) -> Any:
    return dps.logit("good ~ x + z", DATA, SCHEMA, **more)


def poisson() -> Any:
    return dps.glm("count ~ x", DATA, SCHEMA, "poisson")


def one_slope() -> Any:
    return dps.survreg("Surv(time, failed) ~ temp", DRIVES, drives.SCHEMA)


def never_censored() -> Any:
    return dps.survreg("Surv(time) ~ temp + load", NEVER_CENSORED, drives.SCHEMA)


PMT = {"method": "pmt"}
FITS: dict[str, Fitting] = {
    "ols": asked(lambda: dps.ols("y ~ x + z", DATA, SCHEMA)),
    "ols, public": asked(ols),
    "ols, pmt, paper": asked(ols, **PMT, compat="paper"),
    "ridge, pmt": asked(lambda: dps.ridge("y ~ x + z", DATA, SCHEMA, 0.1, public=PUBLIC), **PMT),
    "logit": asked(logit),
    "logit, robust": asked(logit, robust=True),
    "logit, loglik": asked(logit, release=["loglik"]),
    "logit, pmt": asked(lambda: logit(public=PUBLIC), **PMT),
    "logit, pmt, paper": asked(lambda: logit(public=PUBLIC), **PMT, compat="paper"),
    "logit, objective": asked(logit, method="objective"),
    "logit, objective, paper": asked(logit, method="objective", compat="paper"),
    "logit, output": asked(logit, method="output"),
    "svm": asked(lambda: dps.svm("good ~ x + group", DATA, SCHEMA)),
    "svm, paper": asked(lambda: dps.svm("good ~ x + group", DATA, SCHEMA), compat="paper"),
    "svm, output": asked(lambda: dps.svm("good ~ x + group", DATA, SCHEMA), method="output"),
    "svm, output, paper": asked(
        lambda: dps.svm("good ~ x + group", DATA, SCHEMA), method="output", compat="paper"
    ),
    "poisson": asked(poisson),
    "poisson, loglik": asked(poisson, release=["loglik"]),
    "gamma": asked(lambda: dps.glm("amount ~ x", DATA, SCHEMA, "gamma")),
    "survreg": asked(one_slope),
    "survreg, loglik": asked(one_slope, release=["loglik"]),
    "survreg, many": asked(lambda: dps.survreg(drives.FORMULA, DRIVES, drives.SCHEMA)),
    "survreg, delayed": asked(lambda: dps.survreg(late.FORMULA, LATE, late.SCHEMA)),
    "survreg, before": asked(
        lambda: dps.survreg(drives.FORMULA.replace(")", ", type='left')", 1), DRIVES, drives.SCHEMA)
    ),
    "survreg, functional": asked(never_censored, method="functional"),
    "survreg, functional, paper": asked(never_censored, method="functional", compat="paper"),
    "kaplan_meier": asked(lambda: dps.kaplan_meier("Surv(time, failed) ~ maker", DRIVES, drives.SCHEMA)),
}
BUDGETS = [dps.pure(3), dps.zcdp(0.5), dps.gdp(2), dps.approx(3, 1e-6)]
TOTALS = [dps.pure(30), dps.zcdp(30), dps.gdp(9), dps.approx(60, 1e-4)]


class Drawn(SeededNoise):
    """Notes what each draw is of, in its own measure, and that its ledger had been charged by then."""

    def __init__(self, ledger: dps.Ledger) -> None:
        super().__init__(1)
        self.ledger, self.prices = ledger, []

    def _note(self, price: Pure | Gdp) -> None:
        if not self.prices:
            assert len(self.ledger.entries()) == 1
        self.prices.append(price)

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        self._note(Gdp(mu))
        return super().gaussian(value, sensitivity, mu)

    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
        self._note(Pure(epsilon))
        return super().pure(value, law, axes, epsilon)


ADDED = {by_epsilon: "pure", by_pair: "pure", by_rho: "zcdp", by_square: "gdp"}


def least(kind: str, prices: list[Pure | Gdp]) -> Fraction:
    """What draws come to in what adds up: epsilon, rho, or mu squared."""
    if kind == "pure":
        assert all(isinstance(price, Pure) for price in prices)
        return sum((Fraction(price.epsilon) for price in prices), Fraction(0))
    squares = (Fraction(p.amount if kind == "zcdp" else p.to_gdp().mu) ** 2 for p in prices)
    return sum(squares, Fraction(0)) / (2 if kind == "zcdp" else 1)


def spent(budget: Budget) -> float:
    """Epsilon, or rho of noise of its mu."""
    return budget.epsilon if isinstance(budget, Pure) else budget.mu**2 / 2


@pytest.mark.parametrize(("number", "name"), enumerate(FITS), ids=FITS)
def test_the_ledger_holds_what_is_drawn_before_it_is(number: int, name: str, tmp_path: Path) -> None:
    """Of each budget under one kind of total, the others by the fits before and after."""
    fitted = 0
    for i, budget in enumerate(BUDGETS):
        for total in TOTALS[(number + i) % 4 :: 4]:
            ledger = dps.Ledger(tmp_path / f"{i}-{type(total).__name__}.ledger", total=total)
            source = Drawn(ledger)
            try:
                with noise(source):
                    fit = FITS[name](budget, ledger)
            except SpecificationError:
                assert not source.prices and not ledger.entries()
                continue
            (entry,) = ledger.entries()
            kind = ADDED[total.rule(entry.charge).cost]
            assert least(kind, source.prices) <= entry.cost[0]
            assert least("pure" if isinstance(budget, Pure) else "zcdp", source.prices) > spent(budget) / 4
            assert entry.budget == budget and entry.unit == "one row"
            assert entry.gaussian == all(isinstance(price, Gdp) for price in source.prices)
            record = getattr(fit, "record", fit)
            assert ledger.line(entry) == record.ledger
            _entry_and_fit_agree(entry, record)
            fitted += 1
    assert fitted


def _entry_and_fit_agree(entry: Any, record: Any) -> None:
    """A ledger that is charged before the route is known names both; nothing is released that it does not."""
    _, _, methods = entry.method.partition(", ")  # after the model and its law
    assert record.method in methods.split(" or ")
    told = [part for name in entry.released for part in name.replace("; or ", ", ").split(", ")]
    assert set(getattr(record, "released", ())) <= set(told)


def test_a_fit_of_times_under_pure_epsilon_names_all_that_it_paid_for() -> None:
    with noise(SeededNoise(1)):
        record = FITS["survreg"](dps.pure(1), None).record
    assert record.released[-2:] == ("check of the law", "check of the line")


def test_routes_of_survreg_are_all_among_these(tmp_path: Path) -> None:
    methods = set()
    for budget in BUDGETS:
        with noise(SeededNoise(1)):
            methods.add(FITS["survreg"](budget, None).record.method)
    assert len(methods) == 3  # Newton, signs, pure epsilon


def test_noise_of_pure_epsilon_is_not_sold_as_gaussian(tmp_path: Path) -> None:
    """zcdp(0.5) as published spends mu = 1.165, where a ledger of mu was charged 1."""
    tilt = dps.pure(math.sqrt(2 / 3)).to_gdp().mu
    assert math.hypot(tilt, math.sqrt(1 / 3)) == pytest.approx(1.165, abs=1e-3)
    ledger = dps.Ledger(tmp_path / "a.ledger", total=dps.gdp(3))
    with pytest.raises(BudgetError, match="implies no mu"):
        FITS["svm, paper"](dps.zcdp(0.5), ledger)
    assert not ledger.entries()

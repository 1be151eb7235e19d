"""``survreg(method="functional")`` as a user meets it: what is refused, what a summary says, Surv(time)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.models.drives import SCHEMA, drives

CENSORED, FAILED = "Surv(time, failed) ~ temp + load", "Surv(time) ~ temp + load"
DATA = drives(3000, 1, censored=0.0)

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "censored times": (CENSORED, dict(), "bias slopes, scale.*Use method='newton'.*Surv\\(time\\)"),
    "late entries": ("Surv(time, entry=temp) ~ load", dict(), "an entry would be left out.*method='newton'"),
    "gaussian budget": (FAILED, dict(budget=dps.zcdp(0.5)), "give pure.*or use method='newton'"),
    "approx budget": (FAILED, dict(budget=dps.approx(1, 1e-6)), "give pure"),
    "no budget": (FAILED, dict(budget=1.0), "budget must be a budget"),
    "another compat": (FAILED, dict(compat="zhang"), "compat must be None or 'paper', got 'zhang'"),
    "compat of another method": (FAILED, dict(compat="paper", method="newton"), "with method='functional'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_before_any_budget_is_spent(case: str, tmp_path: Path) -> None:
    formula, changes, message = REFUSED[case]
    ledger = dps.Ledger(tmp_path / "drives.ledger", total=dps.approx(10, 1e-3))
    arguments = dict(budget=dps.pure(1), method="functional") | changes
    with pytest.raises(dps.SpecificationError, match=message):
        dps.survreg(formula, DATA, SCHEMA).fit(**arguments, ledger=ledger)
    assert ledger.spent is None


def test_a_summary_says_what_was_done(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "drives.ledger", total=dps.pure(10))
    fit = dps.survreg(FAILED, DATA, SCHEMA).fit(dps.pure(5), method="functional", ledger=ledger)
    text = str(fit.summary())
    assert ledger.spent == dps.pure(5) and not fit.not_private
    for words in ("functional mechanism", "line = least squares", "times beyond = moved to the", "published"):
        assert words in text
    assert "longer = censored" not in text
    assert fit.record.released == ("weights of a quadratic likelihood",)
    assert dps.load(_saved(fit, tmp_path)).to_dict() == fit.to_dict()
    # the paper's sigma lies between half and the whole half-width of log time, whatever the data
    with noise(SeededNoise(1)):
        fit = dps.survreg(FAILED, DATA, SCHEMA).fit(dps.pure(5), method="functional")
    assert fit.settings["published sigma"] > 1.7 > 2 * np.exp(fit.params.iloc[-1])


def _saved(fit: dps.Fit, folder: Path) -> Path:
    fit.save(folder / "drives.fit.json")
    return folder / "drives.fit.json"


def test_as_published_it_is_marked_so() -> None:
    with noise(SeededNoise(2)):
        plain, paper = (
            dps.survreg(FAILED, DATA, SCHEMA).fit(dps.pure(8), method="functional", compat=compat)
            for compat in (None, "paper")
        )
    assert "published" in dict(paper.flags) and "published" not in dict(plain.flags)
    assert "as published" in str(paper.summary())
    assert np.exp(paper.params.iloc[-1]) > 2 * np.exp(plain.params.iloc[-1])
    assert abs(paper.params["temp"]) < abs(plain.params["temp"])


@pytest.mark.parametrize("dist", ["weibull", "loglogistic"])
def test_surv_of_time_alone_is_newton_with_every_row_an_event(dist: str) -> None:
    data = {**DATA, "failed": np.ones(3000)}
    with noise(NoNoise()):
        fits = [dps.survreg(formula, data, SCHEMA, dist).fit(dps.zcdp(1)) for formula in (CENSORED, FAILED)]
    assert (np.asarray(fits[0].params) == np.asarray(fits[1].params)).all()
    assert "longer = censored" in str(fits[1].summary())


def test_lives_and_predictions_follow() -> None:
    with noise(SeededNoise(3)):
        fit = dps.survreg(FAILED, DATA, SCHEMA).fit(dps.pure(20), method="functional")
    life = fit.life({"temp": 30, "load": 0.5}, failed=[0.1, 0.5]).frame.iloc[:2]
    truth = np.exp(6.5 - 0.02 * 30 + 0.5 * 0.5 + 0.6 * np.log(-np.log([0.9, 0.5])))  # of maker A, half of all
    assert ((life["estimate"] / truth).between(0.8, 1.2)).all()
    assert (life["conf_low"] < life["estimate"]).all()

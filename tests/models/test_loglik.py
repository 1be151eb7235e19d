"""The log-likelihood where it is asked for: right without noise, paid for, refused where it has no bound."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dpstats as dps
from dpstats.errors import NotReleased, SpecificationError
from dpstats.families import DISTS
from dpstats.results import Fit, load
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.privacy.harness import SCHEMA as WILD
from tests.privacy.harness import Data, neighbours, violation

SCHEMA = dps.Schema(
    time=dps.bounded(1, 1000), failed=dps.event(), x=dps.bounded(-1, 1), yes=dps.flag(), count=dps.count(50)
)
ASKED = ["loglik"]


def rows(n: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, n)
    time, end = np.exp(4 + 0.5 * x + 0.6 * np.log(rng.exponential(size=n))), rng.uniform(20, 200, n)
    time = np.maximum(time, 1.0)
    return pd.DataFrame(
        {
            "x": x,
            "time": np.minimum(time, end),
            "failed": (time <= end).astype(int),
            "yes": (rng.uniform(size=n) < 1 / (1 + np.exp(-x))).astype(int),
            "count": rng.poisson(np.exp(0.5 + x / 2)),
        }
    )


def models(data: pd.DataFrame) -> dict[str, Any]:
    return {
        **{
            dist: dps.survreg("Surv(time, failed) ~ x", data, SCHEMA, dist=dist)
            for dist in DISTS
            if DISTS[dist].log
        },
        "binomial": dps.logit("yes ~ x", data, SCHEMA),
        "poisson": dps.glm("count ~ x", data, SCHEMA, family="poisson"),
    }


def directly(fit: Fit, data: pd.DataFrame) -> float:
    if fit.record.dist == "binomial":
        return float(stats.bernoulli.logpmf(data["yes"], fit.predict(data)).sum())
    if fit.record.dist == "poisson":
        return float(stats.poisson.logpmf(data["count"], fit.predict(data)).sum())
    z = fit.residuals(data, data["time"], type="standardized").to_numpy()
    family, sigma = DISTS[fit.record.dist].family, float(fit.sigma)
    log_density = family.log_hazard(z) + np.log(family.sf(z)) - np.log(sigma)
    return float(np.where(data["failed"] == 1, log_density, np.log(family.sf(z))).sum())


@pytest.mark.parametrize("name", models(rows(1)))
def test_without_noise_it_is_the_sum_over_the_rows(name: str) -> None:
    data = rows()
    with noise(NoNoise()):
        fit = models(data)[name].fit(dps.gdp(3), release=ASKED)
    wanted = directly(fit, data)
    assert float(fit.llf) == pytest.approx(wanted, abs=1e-6 * abs(wanted))
    estimated = len(fit.names) - (name == "exponential")  # whose log sigma is known
    assert float(fit.aic) == pytest.approx(-2 * wanted + 2 * estimated, rel=1e-6)
    assert float(fit.bic) == pytest.approx(-2 * wanted + math.log(3000) * estimated, rel=1e-6)


@pytest.mark.parametrize("name", ["weibull", "poisson"])
def test_it_is_paid_from_the_same_budget_and_its_noise_is_told(name: str, tmp_path: Any) -> None:
    recording = Recording(SeededNoise(3))
    ledger = dps.Ledger(tmp_path / "a.ledger", total=dps.gdp(3))
    model = models(rows())[name]
    with noise(recording):
        fit = model.fit(dps.gdp(2), release="loglik", ledger=ledger)
    spent = sum(record.cost**2 for record in recording.records)
    assert spent == pytest.approx(4, rel=1e-6) and spent <= 4
    last = recording.records[-1]
    assert last.name == "log_likelihood" and last.cost**2 == pytest.approx(0.4, rel=1e-6)
    assert fit.llf.std_error == pytest.approx(last.sensitivity / last.cost, rel=1e-6)
    assert fit.aic.std_error == pytest.approx(2 * fit.llf.std_error)
    for one in (fit.llf, fit.aic, fit.bic):
        assert one.conf_high - float(one) == pytest.approx(stats.norm.ppf(0.975) * one.std_error)
    assert abs(float(fit.llf) - directly(fit, rows())) < 5 * fit.llf.std_error
    assert "log-likelihood (mu = 0.6325)" in ledger.report().frame.loc[1, "released"]
    row = fit.glance().iloc[0]
    assert (row["loglik"], row["aic"]) == (float(fit.llf), float(fit.aic))
    assert f"about {float(fit.llf):.0f} (sd of noise" in str(fit.summary())
    fit.save(tmp_path / "fit.json")
    assert load(tmp_path / "fit.json").to_dict() == fit.to_dict() and float(load(tmp_path / "fit.json").aic)


def test_a_fit_that_was_not_asked_has_none_and_says_how_to_ask() -> None:
    fit = models(rows(200))["weibull"].fit(dps.gdp(1))
    for name in ("llf", "aic", "bic"):
        with pytest.raises(NotReleased, match=r"release=\['loglik'\] spends part of the budget"):
            getattr(fit, name)
    assert "loglik" not in fit.glance() and "Loglik" not in str(fit.summary())


@pytest.mark.parametrize(
    ("model", "how", "word"),
    [
        (dps.survreg, dict(formula="Surv(time, failed) ~ x", release=["events"]), "nothing else"),
        (dps.survreg, dict(formula="Surv(time, failed) ~ x", budget=dps.pure(1)), "pure epsilon has no"),
        (
            dps.survreg,
            dict(formula="Surv(x + 1, time, failed) ~ x"),
            "with late entries has no.*subset='x \\+ 1 <= 0' and Surv without",
        ),
        (dps.survreg, dict(formula="Surv(time) ~ x", method="functional"), "functional mechanism"),
        (dps.glm, dict(formula="time ~ x", family="gamma"), "gamma"),
        (dps.logit, dict(formula="yes ~ x", budget=dps.pure(1)), "leave release out"),
        (dps.logit, dict(formula="yes ~ x", method="objective"), "objective"),
        (dps.logit, dict(formula="yes ~ x", weights="time / 1000"), "leave release out"),
    ],
)
def test_it_is_refused_before_anything_is_spent(model: Any, how: dict[str, Any], word: str) -> None:
    of_fit = {"budget": dps.gdp(1), "release": ASKED}
    of_fit |= {name: how.pop(name) for name in ("budget", "release", "method") if name in how}
    recording = Recording(NoNoise())
    with noise(recording), pytest.raises(SpecificationError, match=word):
        model(data=rows(100), schema=SCHEMA, **how).fit(**of_fit)
    assert not recording.records


@settings(max_examples=8, deadline=None)
@given(neighbours(), st.sampled_from(["weibull", "logistic"]), st.sampled_from([dps.gdp(8), dps.gdp(1e5)]))
def test_one_wild_row_moves_it_by_no_more_than_its_noise_allows(
    pair: tuple[Data, Data], dist: str, budget: Any
) -> None:
    def fit(data: Data) -> Fit:
        columns = {name: np.array(values, dtype=object) for name, values in data.items()}
        model = dps.survreg("Surv(time, failed) ~ temp + maker", columns, WILD, dist)
        return model.fit(budget, release=ASKED)

    assert violation(fit, *pair) is None

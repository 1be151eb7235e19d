"""A scale that is known: no budget goes to it, no error is told of it, and the others gain."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import Recording, SeededNoise, noise

SCHEMA = dps.Schema(
    time=dps.bounded(0.01, 1000), failed=dps.event(), load=dps.bounded(0, 1), temp=dps.bounded(-5, 5)
)
FORMULA = "Surv(time, failed) ~ load + temp"
TRUTH = np.array([5.0, -1.0, 0.3])
# numbers of a score, and of what it says of three coefficients, without log sigma
OF_LOCATION = {"martingale_score": 9, "score_alone": 3, "information_sizes": 1}
TWINS = (("exponential", None), ("weibull", 1))
ROUTES = {"newton": dps.approx(3, 1e-6), "signs": dps.approx(0.3, 1e-6), "pure": dps.pure(3)}


def made(seed: int, n: int = 20_000, sigma: float = 0.5) -> dict[str, np.ndarray]:
    """Weibull times, a third of them censored."""
    draw = np.random.default_rng(seed)
    load, temp = draw.uniform(0, 1, n), np.clip(draw.normal(size=n), -5, 5)
    life = np.exp(TRUTH[0] + TRUTH[1] * load + TRUTH[2] * temp + sigma * np.log(draw.exponential(size=n)))
    end = draw.uniform(20, 300, n)
    return {
        "time": np.clip(np.minimum(life, end), 0.01, 1000),
        "failed": (life <= end) * 1,
        "load": load,
        "temp": temp,
    }


def fitted(budget, data, seed=1, **how):
    with noise(SeededNoise(seed)):
        return dps.survreg(FORMULA, data, SCHEMA, **how).fit(budget)


@pytest.mark.parametrize("route", ["newton", "pure"])
def test_nothing_is_released_of_log_sigma(route):
    recording = Recording(SeededNoise(1))
    with noise(recording):
        fit = dps.survreg(FORMULA, made(0, 5000), SCHEMA, scale=0.5).fit(ROUTES[route])
    sizes = {record.name: len(record.exact) for record in recording.records}
    asked = OF_LOCATION.keys() & sizes.keys()
    assert asked and all(sizes[name] == OF_LOCATION[name] for name in asked)
    assert fit.params["Log(scale)"] == np.log(0.5)


def test_by_signs_the_spread_is_followed_until_there_are_slopes():
    recording = Recording(SeededNoise(1))
    with noise(recording):
        fit = dps.survreg(FORMULA, made(0, 8000), SCHEMA, scale=0.5).fit(ROUTES["signs"])
    assert "signs" in fit.record.method
    sizes = [(record.name, len(record.exact)) for record in recording.records]
    of_both, of_one = ("martingale_score", 5), ("martingale_score", 2)
    last = len(sizes) - 1 - sizes[::-1].index(of_both)
    assert sizes[last + 1 : -1] == [of_one] * 4 and sizes[-1][0] == "hazard_contrasts"
    assert fit.params["Log(scale)"] == np.log(0.5)


@pytest.mark.parametrize("route", ROUTES)
def test_intervals_hold_the_truth(route):
    held, told = [], []
    for seed in range(12):
        fit = fitted(ROUTES[route], made(seed, 8000 if route == "signs" else 4000), seed, scale=0.5)
        low, high = fit.conf_int().to_numpy()[:-1].T
        told.append(np.isfinite(high - low))
        held.append((low <= TRUTH) & (high >= TRUTH))
    assert np.mean(told) > 0.8  # by signs noise may hide how far a column varies
    assert np.mean(np.array(held)[np.array(told)]) > 0.83  # of 36; 0.95 less three standard errors


def test_the_exponential_is_a_weibull_of_scale_1():
    data = made(0, 5000, sigma=1.0)
    one, other = (fitted(dps.zcdp(0.5), data, dist=dist, scale=scale) for dist, scale in TWINS)
    assert np.array_equal(one.params, other.params) and np.array_equal(one.cov_params(), other.cov_params())
    title, *_ = one.summary().as_text().splitlines()
    assert title.strip() == "Exponential regression for time to failure"
    assert one.shape.conf_low == one.shape.conf_high == 1
    assert hasattr(one, "hazard_ratios")


def test_the_intercept_gains_where_most_are_censored():
    draw = np.random.default_rng(3)
    life = np.exp(6 + 0.5 * np.log(draw.exponential(size=20_000)))
    data = {"time": np.minimum(life, 100.0), "failed": (life <= 100) * 1}
    assert 0.05 < data["failed"].mean() < 0.08
    found = []
    for how in ({}, {"scale": 0.5}):
        with noise(SeededNoise(1)):
            fit = dps.survreg("Surv(time, failed) ~ 1", data, SCHEMA, **how).fit(dps.approx(3, 1e-6))
        found.append((fit.params["Intercept"], fit.bse["Intercept"]))
    (_, free), (intercept, known) = found
    assert known < free / 2
    assert abs(intercept - 6) < 3 * known


def test_another_sigma_than_the_data_have_is_told():
    fits = [fitted(ROUTES["newton"], made(0), scale=scale) for scale in (0.5, 0.7, 0.35)]
    assert ["law" in dict(fit.flags) for fit in fits] == [False, True, True]


def test_what_is_shown():
    fit = fitted(ROUTES["newton"], made(0, 5000), scale=0.5)
    lines = fit.summary().as_text().splitlines()
    row = next(line for line in lines if line.startswith("Log(scale)"))
    assert row.split() == ["Log(scale)", "-0.6931", "fixed"]
    shape = next(line for line in lines if line.startswith("Weibull shape"))
    assert shape.split()[-1] == "fixed"
    assert "early residual" not in fit.summary().as_text()
    assert fit.bse["Log(scale)"] == 0 and fit.sigma.std_error == 0
    assert fit.df_resid == 5000 - 3
    assert np.isfinite(
        fit.life({"load": 0.5, "temp": 0}).frame[["conf_low", "conf_high"]].to_numpy()[:-1]
    ).all()


def test_its_log_likelihood_counts_what_was_estimated():
    with noise(SeededNoise(1)):
        fit = dps.survreg(FORMULA, made(0, 5000), SCHEMA, scale=0.5).fit(dps.zcdp(0.5), release=["loglik"])
    assert fit.aic.estimate == pytest.approx(-2 * fit.llf.estimate + 2 * 3)


def test_a_saved_fit_knows_it(tmp_path):
    fit = fitted(ROUTES["newton"], made(0, 5000), scale=0.5)
    fit.save(tmp_path / "known.fit.json")
    assert "fixed" in dps.load(tmp_path / "known.fit.json").summary().as_text()


def test_a_kept_fit_of_another_scale_is_another_fit(tmp_path):
    ledger, data = dps.Ledger(tmp_path / "known.ledger", total=dps.zcdp(10)), made(0, 2000)
    fits = [
        dps.survreg(FORMULA, data, SCHEMA, scale=scale).fit(dps.zcdp(1), ledger=ledger, reuse=True)
        for scale in (0.5, 0.5, 0.6)
    ]
    assert [np.exp(fit.params["Log(scale)"]) for fit in fits] == pytest.approx([0.5, 0.5, 0.6])
    assert len(ledger.entries()) == 2


def test_late_entries_have_it_too():
    data = made(0)
    start = np.random.default_rng(5).uniform(0, 60, len(data["time"]))
    seen = start < data["time"]
    late = {name: column[seen] for name, column in data.items()} | {"start": start[seen]}
    schema = dps.Schema({**SCHEMA, "start": dps.bounded(0, 60)})
    with noise(SeededNoise(1)):
        model = dps.survreg("Surv(start, time, failed) ~ load + temp", late, schema, scale=0.5)
        fit = model.fit(dps.approx(3, 1e-6))
    z = (fit.params.to_numpy()[:-1] - TRUTH) / fit.bse.to_numpy()[:-1]
    assert np.abs(z).max() < 3.5


def test_the_functional_mechanism_refuses_it(tmp_path):
    ledger = dps.Ledger(tmp_path / "known.ledger", total=dps.pure(10))
    model = dps.survreg("Surv(time) ~ load", made(0, 500), SCHEMA, dist="exponential")
    with pytest.raises(dps.SpecificationError, match="estimates the scale.*default method"):
        model.fit(dps.pure(1), method="functional", ledger=ledger)
    assert ledger.spent is None


def test_a_plan_draws_times_of_the_scale_that_is_known():
    model = dps.survreg(FORMULA, None, SCHEMA, scale=0.5)
    ahead = dps.plan(model, dps.approx(3, 1e-6), n=4000)
    assert not any("a scale of 1" in line for line in str(ahead).splitlines())
    with pytest.raises(dps.SpecificationError, match="knows its scale, 0.5"):
        dps.plan(model, dps.approx(3, 1e-6), n=4000, scale=2)


def test_a_truth_value_is_no_scale():
    with pytest.raises(dps.SpecificationError, match="scale is sigma where it is known, .* got True"):
        dps.survreg(FORMULA, None, SCHEMA, scale=True)

"""Means, sds and correlations that a fit released on its way: right without noise, and wide with it."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dps
from dpstats.testing import SeededNoise, noise

N = 20_000
SCHEMA = dps.Schema(
    x=dps.bounded(-10, 60),
    z=dps.bounded(-8, 8),
    g=dps.levels("a", "b", "c"),
    smokes=dps.flag("yes", "no"),
    y=dps.bounded(-100, 100),
    sick=dps.flag(),
    time=dps.bounded(0.01, 100),
    failed=dps.event(),
)
COLUMNS = ["x", "z"]
LEFT: dict[str, Any] = {
    "ols": (dps.ols, "y"),
    "ridge": (lambda *given: dps.ridge(*given, alpha=0.1), "y"),
    "logit": (dps.logit, "sick"),
    "survreg": (dps.survreg, "Surv(time, failed)"),
    "coxph": (dps.coxph, "Surv(time, failed)"),
}


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    z = rng.normal(size=N)
    x = 25 + 5 * (0.6 * z + 0.8 * rng.normal(size=N))
    life = np.exp(1 + 0.3 * z + 0.5 * np.log(rng.exponential(size=N)))
    return pd.DataFrame(
        {
            "x": x,
            "z": z,
            "g": rng.choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2]),
            "smokes": rng.choice(["yes", "no"], N, p=[0.3, 0.7]),
            "y": z + rng.normal(size=N),
            "sick": (rng.uniform(size=N) < 1 / (1 + np.exp(1 - 0.5 * z))).astype(int),
            "time": np.minimum(life, 4.0),
            "failed": (life <= 4).astype(int),
        }
    )


def fitted(name: str, data: pd.DataFrame, budget: Any, seed: int = 1) -> Any:
    make, left = LEFT[name]
    with noise(SeededNoise(seed)):
        return make(f"{left} ~ x + z + g + smokes", data, SCHEMA).fit(budget)


@pytest.mark.parametrize("name", LEFT)
def test_without_noise_they_are_those_of_the_rows(name: str, data: pd.DataFrame) -> None:
    found = fitted(name, data, dps.gdp(1e4)).moments
    rows = data[data["failed"] == 1] if name in ("survreg", "coxph") else data
    assert found.of == ("failures" if name in ("survreg", "coxph") else "rows")
    assert set(found.names) == {"g[T.b]", "g[T.c]", "smokes", "x", "z"}
    np.testing.assert_allclose(found.means[COLUMNS], rows[COLUMNS].mean(), atol=0.05)
    np.testing.assert_allclose(found.means["g[T.b]"], np.mean(rows["g"] == "b"), atol=0.002)
    # octaves of a generalised linear model tell an sd to a tenth
    np.testing.assert_allclose(
        found.sds[COLUMNS], rows[COLUMNS].std(), rtol=0.15 if name == "logit" else 0.03
    )
    if found.matrix is not None:
        assert abs(found.matrix.loc["x", "z"] - rows["x"].corr(rows["z"])) < 0.03
    frame = found.frame.set_index(["term", "quantity"])
    inside = frame.loc[[("x", "mean"), ("z", "sd")]]
    assert (inside["conf_low"] < inside["estimate"]).all() and (
        inside["estimate"] < inside["conf_high"]
    ).all()


def test_their_noise_is_that_of_many_fits(data: pd.DataFrame) -> None:
    several = [fitted("ols", data[:4000], dps.zcdp(0.02), seed).moments for seed in range(30)]
    for told, noise_sd in (("mean", "mean_noise"), ("sd", "sd_noise"), ("corr", "corr_noise")):
        values = np.array([getattr(each._found, told) for each in several])
        errors = np.median([getattr(each._found, noise_sd) for each in several], axis=0)
        values = np.log(values) if told == "sd" else values
        spread = values.std(axis=0)
        assert (spread <= 1.3 * errors + 1e-9).all()


def test_what_noise_hides_is_not_told(data: pd.DataFrame) -> None:
    loose = dps.Schema({**dict(SCHEMA), "x": dps.bounded(-1e5, 1e5)})
    with noise(SeededNoise(2)):
        found = dps.ols("y ~ x + z", data[:400], loose).fit(dps.zcdp(0.01), force=True).moments
    frame = found.frame.set_index(["term", "quantity"])
    assert np.isnan(frame.loc[("x", "sd"), "estimate"]) and frame.loc[("x", "sd"), "conf_low"] == 0
    assert found.correlations()[["conf_low", "conf_high"]].to_numpy().tolist() == [[-1, 1]]
    assert "not estimable" in str(found)


@pytest.mark.parametrize("name", ["logit", "survreg"])
def test_they_are_kept_in_files(name: str, data: pd.DataFrame) -> None:
    fit = fitted(name, data, dps.zcdp(0.5))
    assert dps.Fit.from_dict(fit.to_dict()).moments.frame.equals(fit.moments.frame)
    kept = pickle.loads(pickle.dumps(fit.moments))
    assert str(kept) == str(fit.moments) and kept.names == fit.moments.names


def test_pure_noise_tells_too_little(data: pd.DataFrame) -> None:
    with pytest.raises(dps.NotReleased, match=r"moments.*dps\.describe"):
        _ = fitted("ols", data, dps.pure(2)).moments
    with pytest.raises(dps.NotReleased, match="spread of each column alone"):
        fitted("logit", data, dps.zcdp(0.5)).moments.correlations()


def test_a_plan_takes_them(data: pd.DataFrame) -> None:
    told = fitted("ols", data, dps.zcdp(0.5)).moments
    model = dps.ols("y ~ x + z + g + smokes", None, SCHEMA)
    by_fit = dps.plan(model, dps.zcdp(0.5), N, covariates=told, scale=1).table()
    by_rows = dps.plan(model, dps.zcdp(0.5), N, covariates=data, scale=1).table()
    np.testing.assert_allclose(by_fit["std_error"], by_rows["std_error"], rtol=0.1)
    times = fitted("survreg", data, dps.zcdp(0.5)).moments
    with pytest.raises(dps.SpecificationError, match="of the rows that fail"):
        dps.plan(model, dps.zcdp(0.5), N, covariates=times)


def test_effects_at_the_means_are_those_of_statsmodels(data: pd.DataFrame) -> None:
    with noise(SeededNoise(1)):
        fit = dps.logit("sick ~ x + z", data, SCHEMA).fit(dps.gdp(1e4))
    right = smf.logit("sick ~ x + z", data).fit(disp=0).get_margeff(at="mean")
    found = fit.marginal_effects(at="mean").frame
    np.testing.assert_allclose(found["estimate"], right.margeff, atol=0.002)
    np.testing.assert_allclose(found["std_error"], right.margeff_se, rtol=0.1)
    with noise(SeededNoise(1)):
        levels = dps.logit("sick ~ z + g", data, SCHEMA).fit(dps.gdp(1e4))
    row = {"z": levels.moments.means["z"]}
    pairs = levels.marginal_effects(at="mean", variables="g", pairs=True).frame
    same = levels.marginal_effects(row | {"g": "a"}, "g", pairs=True).frame
    np.testing.assert_allclose(pairs["estimate"], same["estimate"])
    np.testing.assert_allclose(pairs["std_error"], same["std_error"])


def test_effects_at_means_need_terms_of_their_own(data: pd.DataFrame) -> None:
    with noise(SeededNoise(1)):
        fit = dps.ols("y ~ x * z", data, SCHEMA).fit(dps.zcdp(0.5))
    with pytest.raises(dps.SpecificationError, match="terms of their own"):
        fit.marginal_effects(at="mean")
    with pytest.raises(dps.SpecificationError, match="in the place of newdata"):
        fit.marginal_effects({"x": 1, "z": 1}, at="mean")
    with pytest.raises(dps.SpecificationError, match=r"average=True"):
        fit.marginal_effects(at="overall")

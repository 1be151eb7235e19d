"""A support vector machine from the user's side: labels, decision function, intervals, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.errors import BudgetError, FormulaError, NotReleased, SpecificationError
from dpstats.testing import NoNoise, SeededNoise, noise

SCHEMA = dps.Schema(x=dps.bounded(0, 10), z=dps.levels("a", "b"), good=dps.flag(), y=dps.bounded(0, 1))


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 3000), "z": rng.choice(["a", "b"], 3000), "y": 0.5})
    line = frame["x"] - 5 + (frame["z"] == "b") + rng.normal(size=3000)
    return frame.assign(good=(line > 0).astype(int))


def exact(data: pd.DataFrame, h: float, c: float) -> np.ndarray:
    """The minimiser, by another optimiser."""
    from scipy.optimize import minimize

    b = (data["z"] == "b").to_numpy() * 2.0 - 1
    a = np.column_stack([np.ones(len(b)), b, data["x"] / 5 - 1]) / np.sqrt(3)
    y = data["good"].to_numpy() * 2.0 - 1

    def loss(t):
        m = y * (a @ t)
        f = np.where(m > 1 + h, 0, np.where(m < 1 - h, 1 - m, (1 + h - m) ** 2 / (4 * h)))
        return f.mean() + c * t @ t

    t = minimize(loss, np.zeros(3), tol=1e-12).x / np.sqrt(3)
    return np.array([t[0] - t[1] - t[2], 2 * t[1], t[2] / 5])


@pytest.mark.parametrize("method", ["objective", "output"])
def test_without_noise_it_is_the_minimum(data, method):
    with noise(NoNoise()):
        fit = dps.svm("good ~ z + x", data, SCHEMA, h=0.7, c=0.01).fit(dps.pure(1), method=method)
    assert fit.params.to_numpy() == pytest.approx(exact(data, 0.7, 0.01), abs=1e-5)
    assert fit.not_private


def test_labels_and_decision(data):
    fit = dps.svm("good ~ z + x", data, SCHEMA).fit(dps.pure(2))
    new = pd.DataFrame({"x": [1.0, 9.0], "z": ["a", "b"]})
    assert fit.predict(new).tolist() == [0, 1]
    exog = np.array([[1, 0, 1], [1, 1, 9]])
    assert fit.decision_function(new).to_numpy() == pytest.approx(exog @ fit.params.to_numpy())
    assert fit.predict(new, type="link").to_numpy() == pytest.approx(fit.decision_function(new))
    with pytest.raises(NotReleased, match="probabilities"):
        fit.predict_proba(new)
    with pytest.raises(NotReleased, match="training rows"):
        fit.decision_function()


def test_the_table_says_what_the_target_is(data):
    text = str(dps.svm("good ~ z + x", data, SCHEMA).fit(dps.zcdp(0.5)).summary())
    assert "penalised" in text and "do NOT cover" in text.replace("\n", " ") and "no" in text
    assert "support vector machine" in text


def test_a_table_of_penalised_coefficients_tests_no_null_of_0(data):
    fit = dps.svm("good ~ z + x", data, SCHEMA).fit(dps.pure(2))
    page = fit.summary()
    heads = [column.head for column in page.tables[0].columns]
    assert heads == ["", "penalised", "std err", "privacy", "[0.025", "0.975]"]
    assert "No z and no P>|z|" in page.as_html().replace("&gt;", ">")


def test_a_fit_comes_back_from_a_file(data, tmp_path):
    fit = dps.svm("good ~ z + x", data, SCHEMA).fit(dps.pure(2))
    fit.save(tmp_path / "fit.json")
    for again in (dps.load(tmp_path / "fit.json"), pickle.loads(pickle.dumps(fit))):
        assert again.to_dict() == fit.to_dict()
        assert again.conf_int().to_numpy().tolist() == fit.conf_int().to_numpy().tolist()
    assert str(fit.summary()) == str(dps.load(tmp_path / "fit.json").summary())


def test_intervals_and_p_values_agree(data):
    fit = dps.svm("good ~ z + x", data, SCHEMA).fit(dps.pure(0.5), method="output")
    for name, p in fit.pvalues.items():
        if p > 1e-12:
            low, high = fit.conf_int(level=1 - p).loc[name]
            assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-6 * fit.bse[name])


def test_refusals(data):
    def model(formula="good ~ x", **more):
        return dps.svm(formula, data, SCHEMA, **more)

    with pytest.raises(SpecificationError, match="h must be"):
        model(h=0)
    with pytest.raises(FormulaError, match="flag"):
        model("x ~ z")
    for budget, more, match in (
        (dps.pure(1), dict(method="newton"), "method must be"),
        (dps.pure(1), dict(compat="lib"), "compat must be"),
        (dps.gdp(1), dict(compat="paper"), "pure or zcdp"),
        (dps.approx(1, 0.1), {}, "1/n"),
    ):
        with pytest.raises(SpecificationError, match=match):
            model().fit(budget, **more)
    with pytest.raises(SpecificationError, match="c must be"):
        model(c=-1).fit(dps.pure(1))


def test_a_penalty_too_small_is_refused_before_the_ledger_is_charged(data, tmp_path):
    ledger = dps.Ledger(tmp_path / "book.ledger", total=dps.pure(1))
    with pytest.raises(BudgetError, match="penalty is too small"):
        dps.svm("good ~ x", data, SCHEMA, c=1e-9).fit(dps.pure(1), ledger=ledger)
    with pytest.raises(BudgetError, match="spherical"):
        wide = "good ~ x + " + " + ".join(f"np.exp(-{j} * x)" for j in range(1, 17))
        dps.svm(wide, data, SCHEMA, c=1.0).fit(dps.pure(1), compat="paper", ledger=ledger)
    dps.svm("good ~ x", data, SCHEMA).fit(dps.pure(1), ledger=ledger)


@pytest.mark.parametrize("method", ["objective", "output"])
@pytest.mark.parametrize("model", [dps.svm, dps.logit])
@pytest.mark.parametrize("budget", [dps.approx(3, 1e-6), dps.pure(1)])
def test_rows_that_cannot_be_read_estimate_nothing(data, model, method, budget):
    unread = data.assign(x=data["x"].map("{:.1f} m".format))
    for seed in range(5):
        with noise(SeededNoise(seed)):
            fit = model("good ~ z + x", unread, SCHEMA).fit(budget, method=method)
            seen = model("good ~ z + x", data, SCHEMA).fit(budget, method=method)
        assert np.isinf(fit.bse).all() and [code for code, _ in fit.flags] == ["not_estimable"]
        assert "almost no row can be read" in dict(fit.flags)["not_estimable"]
        assert np.isfinite(seen.bse).all()

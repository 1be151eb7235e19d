"""Terms taken out of a linear fit: what a fit without them gives, from the same release."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.errors import NotReleased, SpecificationError
from dpstats.testing import NoNoise, SeededNoise, noise

SCHEMA = dps.Schema(
    y=dps.bounded(-20, 20),
    x=dps.bounded(-3, 3),
    z=dps.bounded(-3, 3),
    w=dps.bounded(0, 2),
    g=dps.levels("a", "b", "c"),
)
LARGE = dps.zcdp(4)


def rows(n: int = 3000, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    x, g = np.clip(draw.normal(size=n), -3, 3), draw.choice(list("abc"), n)
    z = np.clip(0.6 * x + 0.8 * draw.normal(size=n), -3, 3)
    y = 1 + 2 * x - 1.5 * z + 0.5 * (g == "b") + draw.normal(size=n)
    return pd.DataFrame(dict(x=x, z=z, g=g, w=draw.uniform(0, 2, n), y=y))


def fitted(formula: str, **more: object) -> dps.results.LinearFit:
    with noise(NoNoise()):
        return dps.ols(formula, rows(), SCHEMA, **more).fit(LARGE)


SHORTER = {
    "one": ("y ~ x + z + g", ["z"], "y ~ x + g"),
    "a factor": ("y ~ x + z + g", ["g"], "y ~ x + z"),
    "two": ("y ~ x + z + g", ["z", "g"], "y ~ x"),
    "an interaction": ("y ~ x * z", ["x:z"], "y ~ x + z"),
    "an expression": ("y ~ x + z + np.exp(w - 1)", ["np.exp(w-1)"], "y ~ x + z"),
    "no intercept": ("y ~ 0 + x + z", ["z"], "y ~ 0 + x"),
    "beside an offset": ("y ~ x + z + offset(2 * w)", ["z"], "y ~ x + offset(2 * w)"),
    "all": ("y ~ x", ["x"], "y ~ 1"),
}


@pytest.mark.parametrize("case", SHORTER)
@pytest.mark.parametrize("more", [{}, {"weights": "w"}], ids=["alike", "weighted"])
def test_it_is_the_fit_without_them(case: str, more: dict[str, str]) -> None:
    whole, terms, shorter = SHORTER[case]
    fit, direct = fitted(whole, **more), fitted(shorter, **more)
    found = fit.drop(*terms)
    assert found.names == direct.names
    np.testing.assert_allclose(found.params, direct.params, atol=0.03)
    # a line that bends has longer intervals, and so has a shorter one; with weights rows count less from
    # another length in each formula on, and what long ones may take of a slope is priced by it
    if not fit.flags and not more:
        np.testing.assert_allclose(found.bse, direct.bse, rtol=0.25)


def test_most_of_these_fits_have_no_caution() -> None:
    assert sum(not fitted(whole).flags for whole, _, _ in SHORTER.values()) >= 5


def test_update_takes_out_what_drop_does() -> None:
    fit = fitted("y ~ x + np.exp(z - 1) + g")
    updated = fit.update(". ~ . - np.exp(z - 1) - g")
    assert updated.formula == "y ~ x"
    pd.testing.assert_series_equal(updated.params, fit.drop("g", "np.exp(z - 1)").params)


def test_it_says_what_was_paid_and_is_saved() -> None:
    fit = fitted("y ~ x + z")
    found = fit.drop("z")
    assert found.budget == fit.budget and found.formula == "y ~ x"
    said = " ".join(str(found.summary()).split())
    assert "release and budget of the fit of y ~ x + z: nothing more was spent" in said
    assert dps.Fit.from_dict(found.to_dict()).to_dict() == found.to_dict()
    assert np.isfinite(found.predict({"x": 1.0})).all()
    for name in ("sigma", "rsquared", "drop", "update"):
        with pytest.raises(NotReleased):
            getattr(found, name)


def test_intervals_count_the_noise_of_what_was_taken_out() -> None:
    """The slope of x alone, of rows whose z is a part of x: 1.1, but for values at their bounds."""
    exact, found = [], []
    for seed in range(12):
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x + z", rows(2000, seed), SCHEMA).fit(dps.zcdp(0.2), force=True).drop("z")
        with noise(NoNoise()):
            direct = dps.ols("y ~ x", rows(2000, seed), SCHEMA).fit(LARGE)
        exact.append(float(direct.params["x"]))
        found.append((float(fit.params["x"]), float(np.sqrt(fit.record.cov_privacy[1, 1]))))
    z = (np.array(found)[:, 0] - exact) / np.array(found)[:, 1]
    assert 0.3 < np.sqrt(np.mean(z**2)) < 1.8


def test_slopes_hold_beside_a_skewed_column_that_is_taken_out() -> None:
    """What long rows of less weight hold is also of normal columns, which lose no more by it than usual."""
    size = 12 * np.exp(1.0)
    ends = {"y": (-15, 15 + size), "x": (-6, 6), "z": (0, size), "w": (-6, 6)}
    schema = dps.Schema(**{name: dps.bounded(*each) for name, each in ends.items()})
    missed = []
    for seed in range(15):
        draw = np.random.default_rng([14, seed]).normal(size=(5, 5000))
        x, log_z, w = np.sqrt(0.5) * (draw[0] + draw[1:4])
        data = {"x": x, "z": np.minimum(np.exp(log_z), size), "w": w}
        data["y"] = sum(data.values()) + draw[4]
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x + z + w", data, schema).fit(dps.gdp(0.3)).drop("z")
        # of correlation r with the logarithm, a normal column has the covariance r e^(1/2) with z
        truth = 1 + 0.5 * np.exp(0.5) / 1.5
        missed += list(np.abs(fit.params[["x", "w"]] - truth) / fit.bse[["x", "w"]] / 1.96)
    assert np.quantile(missed, 0.9) < 1 and np.max(missed) < 2


def test_a_fit_without_what_was_lost_warns_of_it_no_more() -> None:
    wide = dps.Schema(**{**SCHEMA, "z": dps.bounded(-1e5, 1e5)})
    with noise(SeededNoise(1)):
        fit = dps.ols("y ~ x + z", rows(), wide).fit(dps.zcdp(0.5))
    assert [code for code, _ in fit.flags] == ["beside", "not_estimable"]
    assert fit.at_alpha(0).flags == fit.flags
    assert [code for code, _ in fit.drop("z").flags] == ["not_estimable"]  # the intercept, far from all z


def test_a_term_is_taken_out_in_any_spelling() -> None:
    fit = fitted("y ~ np.exp(x) + Q('z') + g")
    for term in ("exp(x)", 'np.exp(Q("x"))'):
        assert "np.exp(x)" not in fit.drop(term).names
        assert fit.update(f". ~ . - {term} - z").names == fit.drop("np.exp(x)", "z").names


def test_what_cannot_be_taken_out_is_refused() -> None:
    fit = fitted("y ~ x * g + z")
    for terms, why in (
        (["w"], "'w' is no term of 'y ~ x \\* g \\+ z'; they are"),
        (["1"], "not '1'"),
        ([3], "not 3"),
        ([], "no term is named"),
        (["x + z"], "a term is one of the formula"),
        (["x"], "has other columns"),
        (["x:"], "a term is one of the formula"),
        ([["x", "z"]], "given one by one, as drop\\('x', 'z'\\)"),
    ):
        with pytest.raises(SpecificationError, match=why):
            fit.drop(*terms)
    for change in (". ~ . + w", ". ~ . - x + w", "y ~ . - x", ". ~ . -", "x", 3):
        with pytest.raises(SpecificationError, match="takes terms out"):
            fit.update(change)
    with noise(NoNoise()):
        ridge = dps.ridge("y ~ x + z", rows(), SCHEMA, alpha=1.0).fit(LARGE)
    for name in ("drop", "update"):
        assert name not in dir(ridge) and name in dir(ridge.at_alpha(0))
        with pytest.raises(NotReleased, match="take fit.at_alpha\\(0\\) first"):
            getattr(ridge, name)
        with pytest.raises(NotReleased, match="take all of them out of the first fit"):
            getattr(fit.drop("z"), name)
    assert fit.update("~ . - z").names == fit.drop("z").names
    assert ridge.at_alpha(0).drop("z").names == ("Intercept", "x")


def test_a_line_that_bends_for_want_of_a_term_has_honest_intervals() -> None:
    schema = dps.Schema(y=dps.bounded(-30, 30), z=dps.bounded(-8, 8), x=dps.bounded(0, 30))
    off = []
    for seed in range(12):
        draw = np.random.default_rng([5, seed])
        z = draw.normal(size=20_000)
        x = np.exp(0.6 * (0.8 * z + 0.6 * draw.normal(size=z.size)))
        data = dict(x=x, z=z, y=1 + 0.5 * x + z + draw.normal(size=z.size))
        with noise(SeededNoise(seed)):
            found = dps.ols("y ~ x + z", data, schema).fit(dps.gdp(1)).drop("z")
        # cov(x, z) / var(x) of lognormal x = e^(.6 u), of which z has the correlation .8 with u
        slope = 0.5 + 0.8 * 0.6 * np.exp(0.18) / (np.exp(0.72) - np.exp(0.36))
        off.append(float(abs(found.params["x"] - slope) / found.bse["x"]))
        assert not found.flags
    assert np.median(off) < 1.5 and max(off) < 2.5


def test_the_mean_of_a_skewed_column_that_was_left_out_is_in_doubt() -> None:
    """Long rows weigh less in its mean, which is the intercept of the line without it."""
    schema = dps.Schema(y=dps.bounded(-60, 60), z=dps.bounded(-8, 8), x=dps.bounded(0, 60))
    off = []
    for seed in range(12):
        draw = np.random.default_rng([6, seed])
        z, x = draw.normal(size=(2, 10_000))
        data = dict(x=np.exp(0.7 * x), z=z, y=np.exp(0.7 * x) + z + draw.normal(size=z.size))
        with noise(SeededNoise(seed)):
            found = dps.ols("y ~ x + z", data, schema).fit(dps.gdp(0.3)).drop("x")
        off.append(float(abs(found.params["Intercept"] - np.exp(0.245)) / found.bse["Intercept"]))
    assert np.median(off) < 1.5 and max(off) < 2.5


def test_long_rows_move_no_line_of_a_column_on_others_under_a_pure_epsilon() -> None:
    """Numbers that go along are large together, in rows that are shortened before they are whitened."""
    draw = np.random.default_rng(21)
    x, w, y, u = draw.normal(size=(4, 40_000))
    w, level = 0.5 * x + w, np.argmax(np.outer(x, [0, 0.8, 1.2]) - [0, 0.5, 1] > u[:, None], 1)
    y = 0.3 * x + 0.4 * w + np.array([0, 0.7, 1.0])[level] + 0.6 * y
    data = {"x": x, "w": w, "g": np.array(list("abc"))[level], "y": y}
    ends = dict.fromkeys("xw", dps.bounded(-8, 8)) | {"y": dps.bounded(-12, 12)}
    with noise(NoNoise()):
        fit = dps.ols("y ~ x + w + g", data, {**ends, "g": dps.levels("a", "b", "c")}).fit(dps.pure(5))
    for term, others in (("g", [x, w]), ("w", [x, level == 1, level == 2])):
        exact = np.linalg.lstsq(np.column_stack([np.ones_like(x), *others]), y, rcond=None)[0]
        assert abs(fit.drop(term).params["x"] - exact[1]) < 0.003


def test_long_rows_that_a_matrix_holds_are_not_counted_again_under_a_pure_epsilon() -> None:
    draw = np.random.default_rng(22)
    x = np.clip(draw.standard_t(3, 40_000), -15, 15)
    w = 0.5 * x + draw.exponential(size=x.size)
    data = {"x": x, "w": w, "y": 0.3 * x + 0.4 * w + 0.6 * draw.normal(size=x.size)}
    schema = dps.Schema(**{name: dps.bounded(-30, 30) for name in data})
    with noise(NoNoise()):
        found = dps.ols("y ~ x + w", data, schema).fit(dps.pure(3)).record.linear
    assert found is not None
    squares = np.diag(found.back.T @ found.released.gram @ found.back) / found.gram_weight
    assert (squares[1:] < np.mean([x**2, w**2], axis=1)).all()  # of rows that were shortened

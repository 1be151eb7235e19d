"""Public moment truncation: closed forms without noise, the noise of the spec, the letter of the paper."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import linalg

import dpstats as dps
from dpstats.curator import Curator
from dpstats.errors import BudgetError
from dpstats.estimators.pmt import costs, fit_pmt
from dpstats.estimators.published.truncated import fit_truncated_ridge
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, Recording, SeededNoise, noise

SCHEMA = dps.Schema(
    y=dps.bounded(-60, 60), a=dps.bounded(-20, 20), b=dps.bounded(90, 110), w=dps.bounded(0, 4)
)
FORMULA = "y ~ a + b"
RADIUS_SQUARE = 1 + math.log(2 * 400 / 0.05)  # of one column


def rows(n: int = 400, seed: int = 1) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    a = generator.uniform(-2, 2, n)
    b = 100 + 0.3 * a + generator.uniform(-0.5, 0.5, n)
    y = 1 + 2 * a - 3 * (b - 100) + generator.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "y": y, "w": generator.uniform(1, 4, n)})


PUBLIC = rows(100, seed=2)


def fitted(frame, alpha=0.0, mu=1e4, compat=None, source=None, weights=None, **changes):
    formula, schema = changes.get("formula", FORMULA), changes.get("schema", SCHEMA)
    design = build_design(formula, schema, weights)
    moments = dps.public_moments(formula, PUBLIC.assign(a=PUBLIC.a * frame.attrs.get("unit", 1)), schema)
    with noise(source or NoNoise()):
        curator = Curator(open_rows(frame, schema, design.variables), design, dps.gdp(mu))
    fit = fit_truncated_ridge if compat else fit_pmt
    return fit(curator, moments, design.has_intercept, alpha, mu)


def ridge(frame, alpha, penalise_intercept, weights=None, constant=True):
    x = np.column_stack([np.ones(len(frame)), frame.a, frame.b])[:, 0 if constant else 1 :]
    w = np.ones(len(frame)) if weights is None else weights
    penalty = alpha * np.eye(x.shape[1])
    penalty[0, 0] *= penalise_intercept or not constant
    return np.linalg.solve((x.T * w) @ x / w.sum() + penalty, (x.T * w) @ frame.y / w.sum())


@pytest.mark.parametrize("alpha", [0.0, 0.3, 20.0])
@pytest.mark.parametrize("compat", [None, "paper"])
def test_without_noise_it_is_ridge_regression(alpha, compat):
    """The intercept is free, but not by the letter of the paper; no row is long enough to be truncated."""
    found = fitted(rows(), alpha, compat=compat).solution.params
    assert found == pytest.approx(ridge(rows(), alpha, compat == "paper"), rel=1e-3, abs=1e-3)


def test_without_an_intercept_all_are_penalised():
    found = fitted(rows(), 0.3, formula="y ~ 0 + a + b").solution.params
    assert found == pytest.approx(ridge(rows(), 0.3, False, constant=False), rel=1e-4)


def test_offsets_and_weights_count():
    frame = rows()
    found = fitted(frame, 0.3, formula="y ~ a + b + offset(0.5 * w)", weights="w").solution.params
    wanted = ridge(frame.assign(y=frame.y - 0.5 * frame.w), 0.3, False, frame.w.to_numpy())
    assert found == pytest.approx(wanted, rel=1e-3, abs=1e-2)


def recorded(frame, compat=None, mu=1.0):
    recording = Recording(NoNoise())
    fit = fitted(frame, compat=compat, mu=mu, source=recording)
    return fit, recording.records


def test_the_noise_is_that_of_the_spec_and_the_budget_is_spent_once():
    """Of the sums: sqrt2 R^2 / mu_c on the diagonal, 2 R R_y / mu_c on A'y, mu_c = mu / sqrt2 each (A2)."""
    fit, (gram, cross) = recorded(rows(), mu=0.8)
    mu_c, square = 0.8 / math.sqrt(2), 3 * RADIUS_SQUARE
    assert fit.settings == pytest.approx({"R": math.sqrt(square), "response": math.sqrt(RADIUS_SQUARE)})
    assert gram.law.sds == pytest.approx(math.sqrt(2) * square / mu_c, rel=1e-5)
    assert cross.law.sds == pytest.approx(2 * math.sqrt(3) * RADIUS_SQUARE / mu_c, rel=1e-5)
    assert math.hypot(gram.cost, cross.cost) == pytest.approx(0.8, rel=1e-8)
    _, (gram, cross) = recorded(rows(), "paper", mu=0.8)
    assert gram.law.sds == pytest.approx(2 * square / mu_c, rel=1e-5)  # on every entry of the triangle
    assert cross.law.sds == pytest.approx(2 * math.sqrt(3) * RADIUS_SQUARE / mu_c, rel=1e-5)


def test_the_published_accounting_is_refused():
    """The paper tells mu where sqrt2 mu is spent."""
    design = build_design(FORMULA, SCHEMA)
    curator = Curator(open_rows(rows(), SCHEMA, design.variables), design, dps.gdp(1))
    with pytest.raises(BudgetError, match="truncated_cross"):
        fit_pmt(curator, dps.public_moments(FORMULA, PUBLIC, SCHEMA), True, 0.0, math.sqrt(2))
    assert math.hypot(*costs(1.0)) == pytest.approx(1.0)


def design_matrix(frame):
    return np.column_stack([np.ones(len(frame)), frame.a, frame.b])


def test_the_paper_whitens_by_the_symmetric_root_in_the_users_units():
    """Its noise is not the same in every rotation (A3), so the root matters."""
    _, (gram, cross) = recorded(rows(), "paper")
    public = design_matrix(PUBLIC)
    root = linalg.inv(linalg.sqrtm(public.T @ public / len(public)))
    rows_ = design_matrix(rows()) @ root
    assert gram.exact == pytest.approx((rows_.T @ rows_)[np.triu_indices(3)], rel=1e-3, abs=0.05)
    y = rows().y / math.sqrt((PUBLIC.y**2).mean())
    assert cross.exact == pytest.approx(rows_.T @ y, rel=1e-3, abs=0.05)


@pytest.mark.parametrize("compat", [None, "paper"])
def test_long_rows_are_shortened(compat):
    """With their response as a whole (A10), which the paper clips but does not shorten."""
    frame = rows()
    frame.loc[0, ["a", "y"]] = 18.0, 40.0
    without = frame.assign(y=np.where(frame.index == 0, np.nan, frame.y))
    long, short = (recorded(part, compat)[1] for part in (frame, without))
    gram, cross = (first.exact - second.exact for first, second in zip(long, short, strict=True))
    inflation = 1.0 if compat else 100 / 96
    public = design_matrix(PUBLIC)
    row = linalg.inv(linalg.sqrtm(inflation * public.T @ public / 100)) @ [1.0, 18.0, frame.b[0]]
    share = math.sqrt(3 * RADIUS_SQUARE) / np.linalg.norm(row)
    assert share < 0.9
    response = min(40 / math.sqrt((PUBLIC.y**2).mean()) * (1 if compat else share), math.sqrt(RADIUS_SQUARE))
    assert np.linalg.norm(cross) == pytest.approx(math.sqrt(3 * RADIUS_SQUARE) * response, rel=1e-4)
    if not compat:
        assert np.linalg.norm(gram) == pytest.approx(3 * RADIUS_SQUARE, rel=1e-4)


def test_units_of_a_covariate_do_not_matter():
    frame = rows()
    frame.loc[0, "a"] = 18.0
    scaled = frame.assign(a=frame.a / 1000)
    scaled.attrs["unit"] = 1 / 1000
    schema = dps.Schema(dict(SCHEMA) | {"a": dps.bounded(-0.02, 0.02)})
    units = np.array([1, 1000, 1])
    first, second = (fitted(frame, mu=2.0).solution, fitted(scaled, mu=2.0, schema=schema).solution)
    assert second.params == pytest.approx(first.params * units, rel=1e-4)
    assert second.cov == pytest.approx(first.cov * np.outer(units, units), rel=1e-4)


@pytest.mark.parametrize("compat", [None, pytest.param("paper", marks=pytest.mark.long)])
def test_the_privacy_part_of_the_covariance_is_that_of_repeated_noise(compat):
    """sd of an empirical variance of 400 draws: 7 %."""
    frame = rows(20_000)
    fits = [fitted(frame, mu=2.0, compat=compat, source=SeededNoise(seed)).solution for seed in range(400)]
    found = np.var([fit.params for fit in fits], axis=0)
    told = np.mean([np.diag(fit.cov_privacy) for fit in fits], axis=0)
    assert fits[0].rel < 0.1
    assert told == pytest.approx(found, rel=0.25)


def test_the_sampling_part_is_that_of_least_squares():
    fit = fitted(rows(20_000), mu=1e6).solution
    x = design_matrix(rows(20_000))
    variance = np.sum((PUBLIC.y - design_matrix(PUBLIC) @ ridge(PUBLIC, 0.0, False)) ** 2) / 97
    assert np.diag(fit.cov) == pytest.approx(variance * np.diag(np.linalg.inv(x.T @ x)), rel=1e-2)


@pytest.mark.parametrize("compat", [None, "paper"])
@pytest.mark.parametrize("frame", [rows(), rows().assign(y=np.nan)])
def test_what_noise_drowns_is_said_to_be_lost_or_weak_and_is_no_error(frame, compat):
    fit = fitted(frame, mu=0.05, compat=compat, source=SeededNoise(3)).solution
    lost = np.flatnonzero(np.isinf(np.diag(fit.cov)))
    assert np.isfinite(fit.params).all() and len(lost)
    assert {*lost, *fit.weak} == {0, 1, 2}

"""Which distribution the data prefer: right, paid for within the budget, refused where it has no bound."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.curator import Curator
from dpstats.errors import BudgetError, NotReleased, SpecificationError
from dpstats.families import DISTS
from dpstats.formula import build_design
from dpstats.models import loglik
from dpstats.models.loglik import DIST_SHARE, LIMIT, contest_costs
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.made import under

SCHEMA = dps.Schema(
    time=dps.bounded(1, 4000), failed=dps.event(), x=dps.bounded(-3, 3), maker=dps.levels("A", "B")
)
FORMULA = "Surv(time, failed) ~ x + maker"
BUDGET = dps.approx(2, 1e-5)
ERRORS = {
    "weibull": lambda draw, n: np.log(draw.exponential(size=n)),
    "lognormal": lambda draw, n: draw.normal(size=n),
}


def rows(law: str, n: int = 8000, seed: int = 1) -> pd.DataFrame:
    """A third of the rows fail."""
    draw = np.random.default_rng(seed)
    x, maker = np.clip(draw.normal(size=n), -3, 3), draw.choice(["A", "B"], n)
    time = np.exp(5 + 0.4 * x - 0.3 * (maker == "B") + 0.7 * ERRORS[law](draw, n))
    end = draw.uniform(0, np.quantile(time, 0.9) / 2, n)
    observed = np.clip(np.minimum(time, end), 1, 4000)
    return pd.DataFrame(dict(time=observed, failed=(time <= end) * 1, x=x, maker=maker))


def asked(law: str, dist: str, release: object = ("dist",), n: int = 8000) -> dps.results.SurvivalFit:
    return dps.survreg(FORMULA, rows(law, n), SCHEMA, dist=dist).fit(BUDGET, release=release)


@pytest.mark.parametrize("law", ERRORS)
@pytest.mark.parametrize("dist", ERRORS)
def test_the_right_family_is_ahead_of_the_other_whichever_was_fitted(law: str, dist: str) -> None:
    with noise(SeededNoise(3)):
        fit = asked(law, dist)
    found = {dist: 0.0} | {name: value for name, value, _ in fit.record.rivals}
    (other,) = set(ERRORS) - {law}
    assert found[law] > found[other] + 20
    assert set(found) == {"weibull", "lognormal", "loglogistic"}
    frame = fit.compare_dists().frame
    assert frame["dist"].tolist()[0] == dist and len(frame) == 3
    assert law in fit.compare_dists().as_text().splitlines()[1]  # below the mark of what is not private
    assert fit.preferred_dist in (law, None)


@pytest.mark.parametrize("log_sigma", [-1000.0, 1000.0])
def test_a_scale_that_noise_has_carried_away_is_no_error(
    log_sigma: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget was charged, so that there is a fit."""
    away = SimpleNamespace(params=np.array([5.0, log_sigma]))
    monkeypatch.setattr(loglik, "fit_location_scale", lambda *_: away)
    with noise(SeededNoise(3)), np.errstate(all="raise"):
        fit = asked("weibull", "weibull", n=500)
    assert np.isfinite([value for _, value, _ in fit.record.rivals]).all()


@pytest.mark.parametrize(
    ("told", "rival"), [({"dist": "exponential"}, "weibull"), ({"scale": 1.0}, "weibull of free scale")]
)
def test_a_known_scale_has_a_free_one_as_its_rival(told: dict[str, object], rival: str) -> None:
    with noise(SeededNoise(3)):
        fit = dps.survreg(FORMULA, rows("weibull"), SCHEMA, **told).fit(BUDGET, release="dist")
    found = {name: value for name, value, _ in fit.record.rivals}
    assert set(found) == {rival, "lognormal", "loglogistic"} and found[rival] == max(found.values()) > 100
    assert fit.preferred_dist in (rival, None)
    assert type(fit).from_dict(fit.to_dict()).record.rivals == fit.record.rivals


def test_times_that_are_not_logarithms_have_rivals_of_their_own() -> None:
    data = rows("weibull").assign(time=lambda frame: 1000 + 100 * np.log(frame["time"]))
    with noise(NoNoise()):
        fit = dps.survreg(FORMULA, data, SCHEMA, dist="gaussian").fit(BUDGET, release="dist")
    assert [name for name, *_ in fit.record.rivals] == ["sev", "logistic"]
    assert fit.record.rivals[0][1] > 20


def test_the_sums_are_those_of_clipped_differences() -> None:
    data = rows("weibull", 500)
    design = build_design(FORMULA, SCHEMA)
    curator = under(NoNoise(), open_rows(data, SCHEMA, design.variables), design, dps.gdp(1))
    params, sigmas = np.array([[5.0, -0.3, 0.4], [4.8, -0.3, 0.4], [4.9, -0.2, 0.5]]), np.r_[0.7, 0.9, 0.5]
    families = [DISTS[name].family for name in ("weibull", "lognormal", "loglogistic")]
    public = dict(params=params, sigmas=sigmas, families=families, log=True, limit=0.3)
    release = curator.release("likelihood_contrasts", 0.5, **public)
    exog = design.new_rows(data, clip=True).exog
    likelihoods = []
    for line, sigma, family in zip(params, sigmas, families, strict=True):
        z = (np.log(data["time"].to_numpy()) - exog @ line) / sigma
        density = family.log_hazard(z) - math.log(sigma) + np.log(family.sf(z))
        likelihoods.append(np.where(data["failed"] == 1, density, np.log(family.sf(z))))
    direct = [np.clip(each - likelihoods[0], -0.3, 0.3).sum() for each in likelihoods[1:]]
    np.testing.assert_allclose(release.values[0], direct, atol=1e-4)
    assert release.sensitivity == pytest.approx(0.6 * math.sqrt(2), rel=1e-6)


def test_folded_covariates_are_an_offset() -> None:
    data = rows("weibull", 500)
    design, written = (
        build_design("Surv(time, failed) ~ x", SCHEMA),
        build_design("Surv(time, failed) ~ offset(0.4 * x)", SCHEMA),
    )
    first, second = (
        under(NoNoise(), open_rows(data, SCHEMA, each.variables), each, dps.gdp(1))
        for each in (design, written)
    )
    folded = first.folded(design.bounds[1:], np.array([0.4]))
    assert folded.offset_bounds == pytest.approx(written.offset_bounds)
    public = dict(params=np.array([5.0]), low=-9.0, high=1.0, family=DISTS["weibull"].family, log=True)
    one, two = (each.release("log_likelihood", 0.5, **public) for each in (folded, second))
    np.testing.assert_allclose(one.values[0], two.values[0], rtol=1e-9)


def test_what_a_folded_curator_spends_counts_in_the_same_total() -> None:
    design = build_design("Surv(time, failed) ~ x", SCHEMA)
    curator = Curator(open_rows(rows("weibull", 50), SCHEMA, design.variables), design, dps.gdp(1))
    folded = curator.folded(design.bounds[1:], np.array([0.4]))
    public = dict(params=np.array([5.0]), low=-9.0, high=1.0, family=DISTS["weibull"].family, log=True)
    folded.release("log_likelihood", 0.9, **public)
    with pytest.raises(BudgetError, match="is left"):
        curator.release("log_likelihood", 0.9, **public | dict(params=np.array([5.0, 0.4])))


def test_a_fifth_of_the_budget_pays_for_it_and_nothing_is_left_or_exceeded() -> None:
    mu = BUDGET.mu
    assert sum(cost**2 for cost in contest_costs(mu).values()) == pytest.approx(DIST_SHARE * mu**2)
    with noise(recording := Recording(SeededNoise(0))):
        fit = asked("weibull", "weibull", ["dist", "loglik"], 3000)
    assert sum(record.cost**2 for record in recording.records) == pytest.approx(mu**2, rel=1e-6)
    last = recording.records[-1]
    assert last.name == "likelihood_contrasts" and last.cost**2 == pytest.approx(
        DIST_SHARE / 2 * mu**2, rel=1e-6
    )
    assert fit.record.released[-2:] == (
        "levels of other distributions",
        "likelihood against other distributions",
    )
    assert fit.record.rivals[0][2] == pytest.approx(2 * LIMIT * math.sqrt(2) / last.cost, rel=1e-3)
    assert np.isfinite(float(fit.llf))


def test_it_is_saved_and_printed() -> None:
    with noise(SeededNoise(3)):
        fit = asked("lognormal", "weibull", n=3000)
    again = dps.Fit.from_dict(fit.to_dict())
    assert again.record.rivals == fit.record.rivals and str(again.summary()) == str(fit.summary())
    assert "log-likelihood against weibull: loglogistic +" in " ".join(str(fit.summary()).split())
    plain = dps.survreg(FORMULA, rows("weibull", 3000), SCHEMA).fit(dps.zcdp(4))
    assert plain.record.rivals == () and "rivals" not in plain.to_dict()
    for name in ("compare_dists", "preferred_dist"):
        with pytest.raises(NotReleased, match="was not asked for"):
            getattr(plain, name)


def test_where_there_is_no_bounded_likelihood_it_is_refused() -> None:
    model = dps.survreg(FORMULA, rows("weibull", 300), SCHEMA)
    with pytest.raises(
        SpecificationError, match=r"under pure epsilon has no log-likelihood.*by which release="
    ):
        model.fit(dps.pure(5), release=["dist"])
    with pytest.raises(SpecificationError, match="may hold 'loglik' and 'dist' and nothing else"):
        model.fit(BUDGET, release=["aic"])
    flagged = dps.Schema(dict(SCHEMA) | {"failed": dps.flag()})
    with pytest.raises(SpecificationError, match="may hold 'loglik' and nothing else"):
        dps.logit("failed ~ x", rows("weibull", 300), flagged).fit(BUDGET, release=["dist"])

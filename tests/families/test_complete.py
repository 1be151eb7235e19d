"""The functions of each family agree; one that lacks a part is refused, and the ledger stays as it was."""

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.families import DISTS, FAMILIES, LOGISTIC, NORMAL, SEV, Dist
from dpstats.families.glm import CLOGLOG
from tests.families.complete import faults_of_family, faults_of_glm_family
from tests.families.laws import EVERY_LAW
from tests.families.test_heavy_right_tail import log_hazard
from tests.privacy.catalogue import SCHEMA, made

DATA = made()
# words, on which nothing rests, and what a fit does not ask for, but its results
FREE = {"name", "title", "ratio_name", "interval_scale", "deviance", "draw", "aka", "instead"}


@EVERY_LAW
def test_the_families_are_complete(family):
    assert faults_of_family(family) == ()


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_the_families_of_means_are_complete(family):
    assert faults_of_glm_family(family) == ()


@pytest.mark.parametrize("factor", [2.0, 20.0])
def test_a_law_need_not_have_a_mean_at_every_sigma(factor):
    """That of the logistic law is infinite from sigma 1 on, of `factor` times it from 1 / factor on."""

    def of(function):
        return lambda sigma: function(np.minimum(factor * np.asarray(sigma, dtype=float), 2.0))

    slope = of(LOGISTIC.log_mean_factor_slope)
    wide = replace(
        LOGISTIC,
        mean_factor=of(LOGISTIC.mean_factor),
        log_mean_factor_slope=lambda sigma: factor * slope(sigma),
    )
    assert faults_of_family(wide) == ()


def broken(value):
    """What a field could wrongly be."""
    if isinstance(value, bool):
        return []  # test_who_stalls_is_told
    if callable(value):
        return [
            None,
            lambda *given: np.full(np.shape(given[0]), np.nan),
            lambda *given: 3.0 * value(*given) + 1,
            lambda *given: {}["nothing"],
            lambda *given: "a text",
        ]
    if isinstance(value, str):
        return ["unknown"]
    return [None, (1.0, 0.0)] if isinstance(value, tuple) else [None, math.nan, "a text"]


def test_who_stalls_is_told():
    yes_or_no = [family for family in FAMILIES.values() if family.two_valued]
    wrong = [replace(family, stalls=not family.stalls) for family in yes_or_no]
    assert len(wrong) > 2 and all("stalls" in faults_of_glm_family(family) for family in wrong)


def test_a_link_that_stalls_at_a_no_stalls():
    """As loglog, which is cloglog with yes and no in each other's place."""
    loglog = replace(
        CLOGLOG,
        score=lambda y, eta: -CLOGLOG.score(1 - y, -eta),
        curvature=lambda eta: CLOGLOG.curvature(-eta),
    )
    assert "stalls" not in faults_of_glm_family(loglog)
    assert "stalls" in faults_of_glm_family(replace(loglog, stalls=False))


def spoiled(family, free):
    for field in dataclasses.fields(family):
        value = getattr(family, field.name)
        if field.name not in free and value is not None:
            for wrong in broken(value):
                yield field.name, replace(family, **{field.name: wrong})


@EVERY_LAW
def test_each_function_that_is_missing_or_wrong_is_seen(family):
    for name, wrong in spoiled(family, FREE):
        assert faults_of_family(wrong), name


@pytest.mark.parametrize("name", ["binomial", "poisson", "gamma", "binomial(probit)"])
def test_each_function_of_a_mean_that_is_missing_or_wrong_is_seen(name):
    family = FAMILIES[name]
    of_any_size = {"score_variance", "clipped_mean", "clipped_square", "quantile"}
    for field, wrong in spoiled(family, FREE | of_any_size):
        assert faults_of_glm_family(wrong), field
    for field in of_any_size:
        if getattr(family, field) is not None:
            assert field in faults_of_glm_family(replace(family, **{field: None}))


TOYS = {
    "of no taper": replace(SEV, taper=None),
    "without a hazard": replace(SEV, log_hazard=None),
}


@pytest.mark.parametrize(
    "planted",
    [
        replace(FAMILIES["gamma"], curvature=lambda eta: np.exp(eta), most_curved=math.inf),
        replace(FAMILIES["gamma"], score_variance=lambda eta, phi: phi * np.exp(eta)),
        replace(
            FAMILIES["gaussian"],
            draw=lambda mean, phi, rng: mean + np.exp(mean) * rng.normal(size=mean.shape),
        ),
        replace(FAMILIES["poisson"], free_dispersion=True, log_likelihood=None),
    ],
    ids=["curvature", "variance", "law", "counts"],
)
def test_a_free_dispersion_has_one_curvature_and_one_law_of_scores(planted):
    assert "free_dispersion" in faults_of_glm_family(planted)


def test_functions_of_two_families_do_not_agree():
    assert faults_of_family(replace(SEV, log_hazard_slope=lambda z: 0.5 * np.ones_like(z)))
    assert faults_of_family(replace(LOGISTIC, taper=SEV.taper))


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize("budget", [dps.zcdp(0.5), dps.pure(1)], ids=str)
def test_a_toy_distribution_leaves_the_ledger_as_it_was(monkeypatch, tmp_path, toy, budget):
    monkeypatch.setitem(DISTS, "toy", Dist("toy", "Toy", TOYS[toy], log=True))
    ledger = dps.Ledger(tmp_path / "toy.ledger", total=budget)
    with pytest.raises(SpecificationError, match="dist='toy' is not complete.*complete the record"):
        dps.survreg("Surv(time) ~ temp", DATA, SCHEMA, dist="toy").fit(budget, ledger=ledger)
    assert ledger.entries() == []
    fit = dps.survreg("Surv(time) ~ temp", DATA, SCHEMA).fit(budget, ledger=ledger, force=True)
    assert len(ledger.entries()) == 1 and fit.nobs == len(DATA["time"])


@pytest.mark.parametrize("field", ["score", "variance", "clipped_mean", "score_variance", "link"])
def test_a_toy_family_leaves_the_ledger_as_it_was(monkeypatch, tmp_path, field):
    monkeypatch.setitem(FAMILIES, "poisson", replace(FAMILIES["poisson"], **{field: None}))
    ledger = dps.Ledger(tmp_path / "toy.ledger", total=dps.gdp(1))
    with pytest.raises(SpecificationError, match=f"family='poisson' is not complete.*{field}"):
        dps.glm("visits ~ temp", DATA, SCHEMA, family="poisson").fit(dps.gdp(1), ledger=ledger)
    assert ledger.entries() == []


class _Overflowing(SEV.taper):
    """Right at small cuts, and infinite where the hazard is large."""

    def _flat(self, z, hazard):
        spoilt = super()._flat(z, hazard)
        return spoilt._replace(moment=np.where(hazard > 20, np.inf, spoilt.moment))


class _WrongFarBelow(NORMAL.taper):
    """Right at floors that are near."""

    def _flat(self, z, hazard):
        found = super()._flat(z, hazard)
        return found._replace(location=found.location * (1.0 if self.floor > -5 else 1.5))


@pytest.mark.parametrize(("family", "taper"), [(SEV, _Overflowing), (NORMAL, _WrongFarBelow)])
def test_a_taper_is_tried_at_all_cuts_and_floors_of_fits(family, taper):
    assert faults_of_family(replace(family, taper=taper)) == ("taper",)


def test_a_cumulative_hazard_that_is_tiny_early_is_compared_where_it_has_digits():
    largest = replace(
        SEV,
        name="lev",
        cdf=lambda z: np.exp(-np.exp(-z)),
        sf=lambda z: -np.expm1(-np.exp(-z)),
        quantile=lambda p: -np.log(-np.log(p)),
        log_hazard=log_hazard,
        log_cumulative_hazard=lambda z: np.log(-np.log1p(-np.exp(-np.exp(-z)))),
    )
    faults = faults_of_family(largest)
    assert not {"cdf", "sf", "quantile", "log_hazard", "log_cumulative_hazard"} & set(faults)
    assert "log_cumulative_hazard" in faults_of_family(replace(largest, log_cumulative_hazard=np.exp))

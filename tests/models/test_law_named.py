"""Distributions and families by the names that people write, and by the families of statsmodels."""

import pytest
import statsmodels.api as sm

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.families import DISTS, FAMILIES
from dpstats.models.checks import law_named

LINKS, LAWS = sm.families.links, sm.families


@pytest.mark.parametrize("name", FAMILIES)
def test_case_does_not_matter(name: str) -> None:
    assert law_named("family", name.upper(), FAMILIES) is FAMILIES[name]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (LAWS.Poisson(), "poisson"),
        (LAWS.Binomial(), "binomial"),
        (LAWS.Gamma(LINKS.Log()), "gamma"),
        (LAWS.Gaussian(), "gaussian"),
    ],
)
def test_families_of_statsmodels_with_the_same_link(given: object, name: str) -> None:
    assert law_named("family", given, FAMILIES) is FAMILIES[name]


OTHER_LINKS = [LAWS.Gamma(), LAWS.Binomial(LINKS.Probit()), LAWS.Poisson(LINKS.Identity())]


@pytest.mark.parametrize("given", OTHER_LINKS)
def test_another_link_is_refused(given: object) -> None:
    with pytest.raises(SpecificationError, match="has the link .* here"):
        law_named("family", given, FAMILIES)


@pytest.mark.parametrize("given", [LAWS.NegativeBinomial(), "negbinomial", "negative.binomial", "nb"])
def test_counts_that_scatter_more_are_poisson(given: object) -> None:
    with pytest.raises(SpecificationError, match="is that of 'poisson' here, whose coefficients hold"):
        law_named("family", given, FAMILIES)


@pytest.mark.parametrize("given", [LAWS.Poisson, LAWS.Tweedie(), 3, None, "norm", []])
def test_what_is_no_family_is_refused(given: object) -> None:
    with pytest.raises(SpecificationError, match="family must be one of binomial, poisson"):
        law_named("family", given, FAMILIES)


def test_models_take_them() -> None:
    schema = dps.Schema(y=dps.count(10), t=dps.bounded(1, 9), x=dps.bounded(0, 1))
    assert dps.survreg("Surv(t) ~ x", None, schema, dist="Weibull").dist == DISTS["weibull"].name
    assert dps.glm("y ~ x", None, schema, LAWS.Poisson()).family is FAMILIES["poisson"]
    assert dps.glm("y ~ x", None, schema.to_dict(), "Poisson").family is FAMILIES["poisson"]

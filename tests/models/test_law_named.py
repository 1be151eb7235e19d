"""Distributions and families by the names that people write, and by the families of statsmodels."""

import pytest
import statsmodels.api as sm

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.families import DISTS, FAMILIES, Dist, GlmFamily
from dpstats.models.glm import family_named
from dpstats.models.survreg import dist_named

LINKS, LAWS = sm.families.links, sm.families


@pytest.mark.parametrize("name", FAMILIES)
def test_case_does_not_matter(name: str) -> None:
    assert family_named(name.upper()) is FAMILIES[name]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (LAWS.Poisson(), "poisson"),
        (LAWS.Binomial(), "binomial"),
        (LAWS.Gamma(LINKS.Log()), "gamma"),
        (LAWS.Gaussian(), "gaussian"),
        (LAWS.Binomial(LINKS.Probit()), "binomial(probit)"),
        (LAWS.Binomial(LINKS.CLogLog()), "binomial(cloglog)"),
        ("binomial(link = 'probit')", "binomial(probit)"),
        ("Gamma(log)", "gamma"),
        ("poisson()", "poisson"),
        ("bernoulli", "binomial"),
    ],
)
def test_families_of_statsmodels_with_the_same_link(given: object, name: str) -> None:
    assert family_named(given) is FAMILIES[name]


OTHER_LINKS = [LAWS.Gamma(), LAWS.Binomial(LINKS.Log()), LAWS.Poisson(LINKS.Identity()), "gamma(inverse)"]


@pytest.mark.parametrize("given", OTHER_LINKS)
def test_another_link_is_refused(given: object) -> None:
    with pytest.raises(
        SpecificationError, match="has the link .* here, not .*write family=|rate ratios of family="
    ):
        family_named(given)


@pytest.mark.parametrize("given", ["negbinomial", "negative.binomial", "nb", "glm.nb", "nbinom", "nb2(log)"])
def test_a_negative_binomial_family_seeks_its_alpha(given: str) -> None:
    assert family_named(given) is FAMILIES["negativebinomial"]


@pytest.mark.parametrize(
    ("given", "alpha"),
    [
        (LAWS.NegativeBinomial(alpha=0.3), 0.3),
        ("Negative Binomial(theta = 2)", 0.5),
        ("negative.binomial(size=4)", 0.25),
        ("NB(alpha=1e-2)", 0.01),
    ],
)
def test_or_is_told_it(given: object, alpha: float) -> None:
    found = family_named(given)
    assert found.alpha == alpha and found.seek is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("negativebinomial(0.5)", "does not say what its number is: .*R's theta, 1 / alpha"),
        ("nb(alpha=0)", "alpha is from 0.0001, which is Poisson, to 100"),
        ("nb(theta=0)", "alpha is from 0.0001, which is Poisson, to 100"),
        (LAWS.NegativeBinomial(alpha=1e4), "alpha is from 0.0001, which is Poisson, to 100"),
    ],
)
def test_an_alpha_must_be_said_to_be_one(given: object, said: str) -> None:
    with pytest.raises(SpecificationError, match=said):
        family_named(given)


def test_quasi_poisson_is_poisson() -> None:
    assert family_named("quasipoisson") is FAMILIES["poisson"]


@pytest.mark.parametrize("given", [LAWS.Poisson, LAWS.Tweedie(), 3, None, "norm", []])
def test_what_is_no_family_is_refused(given: object) -> None:
    with pytest.raises(SpecificationError, match="family must be one of binomial, poisson"):
        family_named(given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("inverse.gaussian", "inverse Gaussian is none of them: 'gamma'"),
        ("Inverse_Gaussian(log)", "inverse Gaussian is none of them: 'gamma'"),
        (LAWS.InverseGaussian(), "inverse Gaussian is none of them: 'gamma'"),
        ("tweedie", "Tweedie is none of them: 'gamma'"),
        ("gausian", "did you mean 'gaussian'"),
    ],
)
def test_a_family_that_there_is_not_is_said_to_be_none(given: object, said: str) -> None:
    """An inverse Gaussian is not spelt like a Gaussian by mistake."""
    with pytest.raises(SpecificationError, match=f"got .*; {said}"):
        family_named(given)


LINKS_OF_A_MODEL = [("probit", "probit"), ("CLogLog", "cloglog"), (LINKS.Probit(), "probit"), (None, "logit")]


@pytest.mark.parametrize(("link", "name"), LINKS_OF_A_MODEL)
def test_a_model_takes_a_link(link: object, name: str) -> None:
    assert family_named("binomial", link).link_name == name


@pytest.mark.parametrize(
    ("family", "link", "instead"),
    [
        ("binomial", "log", "ratios of risks are the rate ratios of family='poisson'"),
        ("binomial", "identity", "differences of risks are the coefficients of dps.ols"),
        ("gaussian", "log", "family='gamma' has this link"),
        ("poisson", "sqrt", "write family='poisson', link='log'"),
        ("binomial(probit)", "logit", "has the link 'probit', and link= says 'logit': say one"),
        ("binomial", 3, "write family='binomial', link='logit'"),
    ],
)
def test_a_link_that_a_family_has_not_is_answered_with_what_has(
    family: str, link: object, instead: str
) -> None:
    with pytest.raises(SpecificationError, match=instead):
        family_named(family, link)


def test_models_take_them() -> None:
    schema = dps.Schema(y=dps.count(10), t=dps.bounded(1, 9), x=dps.bounded(0, 1))
    assert dps.survreg("Surv(t) ~ x", None, schema, dist="Weibull").dist == DISTS["weibull"].name
    assert dps.glm("y ~ x", None, schema, LAWS.Poisson()).family is FAMILIES["poisson"]
    assert dps.glm("y ~ x", None, schema.to_dict(), "Poisson").family is FAMILIES["poisson"]


def test_who_forgets_the_family_is_told_all_kinds() -> None:
    """The list is written by hand, below the families."""
    with pytest.raises(TypeError, match="family is") as told:
        dps.glm("y ~ x", None, {})  # type: ignore[call-arg]
    assert all(repr(family.kind) in str(told.value) for family in FAMILIES.values())


@pytest.mark.parametrize("law", [*DISTS.values(), *FAMILIES.values()], ids=lambda law: law.name)
def test_what_others_call_a_law_leads_to_it(law: Dist | GlmFamily) -> None:
    for name in law.aka:
        if isinstance(law, GlmFamily):
            assert family_named(name, law.link_name).kind == law.kind
        else:
            with pytest.raises(SpecificationError, match=f"{name}'; .*{law.name!r}"):
                dist_named(name)

"""Distributions and families by the names that people write, in R, statsmodels or here."""

import math
import re
from collections.abc import Mapping

from dpstats._arguments import near, number, shown
from dpstats.errors import SpecificationError
from dpstats.families import FAMILIES, Dist, GlmFamily
from dpstats.families.glm import EXCESSES, NEGATIVE_BINOMIAL_NAME, negative_binomial

_STATSMODELS = "statsmodels.genmod.families"
_WITH_EXCESS = re.compile(r"(.*\w)\s*\(\s*(?:(alpha|theta|size)\s*=\s*)?([0-9.e+-]+)\s*\)")
_WITH_LINK = re.compile(r"(\w+)\s*\(\s*(?:link\s*=\s*)?['\"]?(\w+)['\"]?\s*\)")
_SAME = {
    **dict.fromkeys(("bernoulli", "logistic"), "binomial"),
    "normal": "gaussian",
    **dict.fromkeys(("quasipoisson", "quasi poisson"), "poisson"),  # which has its standard errors here
}
_NEGATIVE_BINOMIAL = re.compile(r"neg(ative)?[ _.]?bin(om)?(ial)?|n[ _.]?b(2|inom)?|(glm[ _.])?nb")
_OF_R = {
    **dict.fromkeys(("lnorm", "log-normal", "log_normal"), "lognormal"),
    **dict.fromkeys(("llogis", "log-logistic", "log_logistic"), "loglogistic"),
    **dict.fromkeys(("norm", "normal"), "gaussian"),
    **dict.fromkeys(("exp", "expon"), "exponential"),
    "extreme": "sev",
}
_GUMBEL = "; that of least values, scipy's gumbel_l, is 'sev', and of greatest, gumbel_r, 'sev' of -y"
_INSTEAD = {
    (
        "binomial",
        "log",
    ): "ratios of risks are the rate ratios of family='poisson', whose standard errors hold for 0 and 1, too",
    ("binomial", "identity"): "differences of risks are the coefficients of dps.ols(formula, data, schema)",
    ("binomial", "cauchit"): "link='probit' and 'logit' are the nearest",
    ("gaussian", "log"): "family='gamma' has this link, and standard errors that do not rest on its law",
}
"""What has the coefficients of a link that a family does not have here."""


def dist_named(given: object, known: Mapping[str, Dist]) -> Dist:
    """A distribution of a time by its name, in whatever case.

    Raises
    ------
    SpecificationError
    """
    if not isinstance(given, str) or given.lower() not in known:
        name = given.lower() if isinstance(given, str) else ""
        meant = f"; it is {other!r} here" if (other := _OF_R.get(name)) in known else near(name, known)
        meant = _GUMBEL if name.startswith("gumbel") else meant
        raise SpecificationError(f"dist must be one of {', '.join(known)}, got {shown(given)}{meant}")
    return known[given.lower()]


def family_named(given: object, link: object = None) -> GlmFamily:
    """A family by its name, in whatever case and with its link or without, or by that of statsmodels.

    A negative binomial one may say its alpha, or R's theta, which is 1 / alpha; else a fit finds it.

    Raises
    ------
    SpecificationError
        If there is no such family, or it has not this link.
    """
    alpha = _excess(given)
    kind, own = _read(given if alpha is None else NEGATIVE_BINOMIAL_NAME)
    if kind in ("quasibinomial", "quasi binomial"):
        raise SpecificationError(
            f"family={shown(given)} is 'binomial' here, fitted with robust=True: its standard errors then do "
            "not rest on the law, as in dps.logit(formula, data, schema).fit(budget, robust=True)"
        )
    links = [family.link_name for family in FAMILIES.values() if family.kind == kind]
    if not links:
        kinds = dict.fromkeys(family.kind for family in FAMILIES.values())
        listed = ", ".join(kinds)
        raise SpecificationError(f"family must be one of {listed}, got {shown(given)}{near(kind, kinds)}")
    named = own if link is None else _link_named(link)
    if isinstance(given, str) and own not in (None, named):
        raise SpecificationError(
            f"family={shown(given)} has the link {own!r}, and link= says {shown(named)}: say one of them"
        )
    asked = named or links[0]
    if asked not in links:
        listed = " or ".join(repr(each) for each in links)
        instead = _INSTEAD.get((kind, str(asked)), f"write family={kind!r}, link={links[0]!r}")
        raise SpecificationError(f"family {kind} has the link {listed} here, not {shown(asked)}; {instead}")
    found = next(f for f in FAMILIES.values() if (f.kind, f.link_name) == (kind, asked))
    return found if alpha is None else negative_binomial(alpha)


def _excess(given: object) -> float | None:
    """The alpha of a negative binomial family that says one."""
    if type(given).__module__.startswith(_STATSMODELS):
        return _checked_excess(given, getattr(given, "alpha", None))
    found = _WITH_EXCESS.fullmatch(given.strip().lower()) if isinstance(given, str) else None
    if found is None or not _NEGATIVE_BINOMIAL.fullmatch(found[1]):
        return None
    if found[2] is None:
        raise SpecificationError(
            f"family={shown(given)} does not say what its number is: write 'negativebinomial(alpha=0.5)', of "
            "a variance m + alpha m^2 as in statsmodels, or R's theta, 1 / alpha, as in "
            "'negativebinomial(theta=2)'"
        )
    value = number("alpha of family=", found[3])
    return _checked_excess(given, value if found[2] == "alpha" else 1 / value if value else math.inf)


def _checked_excess(given: object, alpha: float | None) -> float | None:
    if alpha is None or EXCESSES[0] <= alpha <= EXCESSES[1]:
        return alpha
    raise SpecificationError(
        f"family={shown(given)}: alpha is from {EXCESSES[0]:g}, which is Poisson, to {EXCESSES[1]:g}"
    )


def _read(given: object) -> tuple[str, str | None]:
    """The name of a family in small letters, and of its link if there is one."""
    if type(given).__module__.startswith(_STATSMODELS):
        return type(given).__name__.lower(), _link_named(getattr(given, "link", None))
    name = given.strip().lower() if isinstance(given, str) else ""
    found = _WITH_LINK.fullmatch(name)
    kind, own = found.groups() if found else (name.removesuffix("()"), None)
    if _NEGATIVE_BINOMIAL.fullmatch(kind):
        return NEGATIVE_BINOMIAL_NAME, own
    return _SAME.get(kind, kind), own


def _link_named(given: object) -> str:
    if isinstance(given, str):
        return given.strip().lower()
    own = given if isinstance(given, type) else type(given)
    return own.__name__.lower() if own.__module__.startswith(_STATSMODELS) else shown(given)

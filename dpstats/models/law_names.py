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
_NEGATIVE_BINOMIAL = re.compile(r"neg(ative)?[ _.]?bin(om)?(ial)?|n[ _.]?b(2|inom)?|(glm[ _.])?nb")


def dist_named(given: object, known: Mapping[str, Dist]) -> Dist:
    """A distribution of a time by its name, in whatever case.

    Raises
    ------
    SpecificationError
    """
    if not isinstance(given, str) or given.lower() not in known:
        name = given.lower() if isinstance(given, str) else ""
        said = [each.remark or f"it is {each.name!r} here" for each in known.values() if name in each.aka]
        meant = f"; {said[0]}" if said else near(name, known)
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
    of_kind = {family.link_name: family for family in FAMILIES.values() if family.kind == kind}
    if not of_kind:
        kinds = dict.fromkeys(family.kind for family in FAMILIES.values())
        listed = ", ".join(kinds)
        raise SpecificationError(f"family must be one of {listed}, got {shown(given)}{near(kind, kinds)}")
    named = own if link is None else _link_named(link)
    if isinstance(given, str) and own not in (None, named):
        raise SpecificationError(
            f"family={shown(given)} has the link {own!r}, and link= says {shown(named)}: say one of them"
        )
    usual = next(iter(of_kind))
    asked = named or usual
    if asked not in of_kind:
        listed = " or ".join(map(repr, of_kind))
        instead = dict(of_kind[usual].instead).get(asked, f"write family={kind!r}, link={usual!r}")
        raise SpecificationError(f"family {kind} has the link {listed} here, not {shown(asked)}; {instead}")
    return of_kind[asked] if alpha is None else negative_binomial(alpha)


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
    return next((family.kind for family in FAMILIES.values() if kind in family.aka), kind), own


def _link_named(given: object) -> str:
    if isinstance(given, str):
        return given.strip().lower()
    own = given if isinstance(given, type) else type(given)
    return own.__name__.lower() if own.__module__.startswith(_STATSMODELS) else shown(given)

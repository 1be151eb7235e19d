"""How many of the rows first looks and early steps need."""

from dpstats.curator import Curator

# Rows times mu that first looks need, for any number of coefficients; the same over k^1.5, as
# :mod:`dpstats.estimators.newton.plan` counts steps by; both where early steps alone are of some rows, in
# failures; the fewest rows, whose passes take hardly any time; and the least share of all, because early
# steps end where these have the root.
_LOOKS = 30_000.0
_STEPS = 750.0
_EARLY = 3000.0, 150.0
_FEWEST = 10_000
_LEAST = 1 / 8


def some_rows(curator: Curator, mu: float, k: int) -> Curator:
    """A curator of rows drawn at random, as many as show where columns and root are; of all if these are few.

    Parameters
    ----------
    curator : Curator
    mu : float
        What the fit spends.
    k : int
        Coefficients.
    """
    return _enough(curator, mu, max(_LOOKS, _STEPS * k**1.5))


def some_failures(curator: Curator, mu: float, k: int, fraction: float) -> Curator:
    """The same for early steps alone, where the rows that fail tell of coefficients.

    Parameters
    ----------
    curator, mu, k
        As above.
    fraction : float
        Of the rows that fail, as it was released.
    """
    looks, steps = _EARLY
    return _enough(curator, mu, max(looks, steps * k**1.5), fraction)


def _enough(curator: Curator, mu: float, needed: float, telling: float = 1.0) -> Curator:
    enough = max(needed / curator.cost_per_row(mu), _FEWEST) / telling
    return curator.sampled(max(enough / max(curator.n, 1), _LEAST))

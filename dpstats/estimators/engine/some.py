"""How many of the rows first looks and early steps need."""

from dpstats.curator import Curator

# Rows times mu that first looks need, for any number of coefficients; the same over k^1.5, as
# :mod:`dpstats.estimators.newton.plan` counts steps by; both of early steps, in rows that tell; the fewest
# rows, whose passes take hardly any time; and the least share of all, because early steps end where these
# have the root.
_LOOKS = 30_000.0
_STEPS = 750.0
_EARLY = 5000.0, 150.0
_FEWEST = 10_000
_LEAST = 1 / 8


def some_rows(curator: Curator, mu: float, k: int) -> Curator:
    """A curator of rows drawn at random, as many as show where columns are; of all if these are few.

    Parameters
    ----------
    curator : Curator
    mu : float
        What the fit spends.
    k : int
        Coefficients.
    """
    return _enough(curator, mu, max(_LOOKS, _STEPS * k**1.5))


def early_rows(curator: Curator, mu: float, k: int, telling: float) -> Curator:
    """The same for steps towards a root, of as many rows as show where it is.

    Parameters
    ----------
    curator, mu, k
        As above.
    telling : float
        Rows that tell of coefficients as one that fails, or as an answer of even odds; per row, as released.
    """
    looks, steps = _EARLY
    return _enough(curator, mu, max(looks, steps * k**1.5), telling)


def _enough(curator: Curator, mu: float, needed: float, telling: float = 1.0) -> Curator:
    enough = max(needed / curator.cost_per_row(mu), _FEWEST) / telling
    return curator.sampled(max(enough / max(curator.n, 1), _LEAST))

"""What a message holds, how much noise is on it, and what that guarantees. All numbers here are public.

Let a contributor's row be mapped to |q| <= 1 and the response to |y| <= 1, and let z = (q, c y), c^2 = 1/2.

*Statistics*: the message is svec(z z') + noise, svec being the upper triangle with off-diagonal entries times
sqrt 2, in which the L2 norm is the Frobenius norm.

*Sensitivity.* For rows z and v, |zz' - vv'|_F^2 = |z|^4 + |v|^4 - 2 (z'v)^2 <= 2 (1 + c^2)^2 = 4.5, attained
where |q| = |y| = 1 for both and z'v = 0, that is where the two rows q meet at a cosine of -1/2 and y is the
same. A record with a missing value is z = 0: |zz'|_F <= 1 + c^2. These are the constants of
docs/theory/contributions.md#statistics-scheme; the square of the response comes free.

*Central guarantee.* Noise of one message is OpenDP's discrete Gaussian with sd s on a lattice of spacing
g <= 2^-40 s, the same for all contributors. If k contributors keep their noise to themselves, the server's
sum holds the sum of k such draws. By Kairouz, Liu & Steinke (2021), that sum and a discrete Gaussian of
variance k s^2 have probabilities whose ratio lies within e^t and e^-t for t = 10 sum_{j<k} exp(-2 pi^2
(s/g)^2 j / (j+1)) <= 10 k exp(-pi^2 2^80) in each coordinate: nothing, even for the logarithm of k. And
a discrete Gaussian on this lattice may be counted as mu-GDP, mu = sensitivity / (sqrt k s), at the price that
dpstats.curator.mechanisms pays: rounding to the lattice moves the sum by g sqrt m at most, and delta by less
than (3 m + mu^2) 2^-84. Noise is drawn for mu (1 - 3e-9), which pays for both and for numbers computed
elsewhere in another order.

*Local guarantee.* One message is mu-GDP at mu = sensitivity / s, sqrt k times the central mu.

*Range.* No honest entry is farther than `TAIL` = 12 sds from [-1, 1], but with a chance below 2 e^-72 each.
What the server does with messages out of range therefore costs no privacy and no bias: 1e9 messages
of 1,000 entries have one with a chance below 2e-19.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats.budget import Approx, Budget
from dpstats.contributors.input_law import InputLaw, corrected, published

RESPONSE = math.sqrt(0.5)  # c
TAIL = 12.0
GUARD = 3e-9
# Of epsilon and of delta, what the corrected input scheme spends to hide how exactly a minimum was found.
FINAL = 0.01
_RAISED = 1 + 1e-9  # for the rounding of a message's own numbers


@dataclass(frozen=True)
class Part:
    """Some entries of a message that share their noise.

    Attributes
    ----------
    name : str
    size : int
    sensitivity : float
        L2 distance between two records, at most.
    sd : float
        Of the noise.
    """

    name: str
    size: int
    sensitivity: float
    sd: float

    @property
    def mu(self) -> float:
        """What one message costs the contributor in this part."""
        return self.sensitivity / self.sd

    @property
    def limit(self) -> float:
        """Where an entry is out of range."""
        return 1 + TAIL * self.sd


def honest_count(n_min: int, honest: float) -> int:
    """How many contributors keep their noise to themselves, at least."""
    return math.floor(n_min * honest * (1 + 1e-12))


def local_mu(of: tuple[Part, ...]) -> float:
    """What one message costs the contributor."""
    return math.hypot(*(part.mu for part in of))


def parts(
    columns: int, budget: Budget, count: int, method: str, compat: str | None, ball: float
) -> tuple[Part, ...]:
    """The parts of a message.

    Parameters
    ----------
    columns : int
        Of the design.
    budget : Budget
        Central, Gaussian; of the input scheme (epsilon, delta).
    count : int
        Contributors whose noise the central guarantee rests on.
    method, compat, ball
        As of :class:`dpstats.contributors.Plan`.
    """
    root = math.sqrt(count)
    if method == "statistics":
        sensitivity = math.sqrt(2) * (1 + RESPONSE**2) * _RAISED
        size = (columns + 1) * (columns + 2) // 2
        return (Part("moments", size, sensitivity, sensitivity / (root * budget.mu * (1 - GUARD))),)
    law = input_law(columns, budget, count, compat, ball)
    raised = 1 + GUARD
    return (
        Part("row", columns, 2 * _RAISED, law.row / root * raised),
        Part("product", columns, 2 * _RAISED, law.product / root * raised),
    )


def input_law(columns: int, budget: Budget, count: int, compat: str | None, ball: float) -> InputLaw:
    """Noise and ridge of the input scheme, for the part of the budget that the minimum may spend."""
    assert isinstance(budget, Approx)
    if compat:
        return published(budget.epsilon, budget.delta, count, columns, ball)
    return corrected(budget.epsilon * (1 - FINAL), budget.delta * (1 - FINAL), count, columns, ball)


def final_mu(budget: Approx) -> float:
    """mu of the noise that hides how exactly a minimum was found; half of its delta pays for the lattice."""
    return Approx(budget.epsilon * FINAL, budget.delta * FINAL / 2).mu * (1 - GUARD)

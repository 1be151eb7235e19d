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

import math
from dataclasses import dataclass

import scipy

from dpstats.budget import Approx, Budget
from dpstats.curator.noise import current

RESPONSE = math.sqrt(0.5)  # c
TAIL = 12.0
GUARD = 3e-9
# Of epsilon and of delta, what the corrected input scheme spends to hide how exactly a minimum was found.
FINAL = 0.01
_RAISED = 1 + 1e-9  # for the rounding of a message's own numbers


@dataclass(frozen=True)
class MessagePart:
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
    return min(math.floor(n_min * honest * (1 + 1e-12)), n_min)


def local_mu(of: tuple[MessagePart, ...]) -> float:
    """What one message costs the contributor."""
    return math.hypot(*(part.mu for part in of))


def parts(
    columns: int, budget: Budget, count: int, method: str, compat: str | None, ball: float
) -> tuple[MessagePart, ...]:
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
        return (MessagePart("moments", size, sensitivity, sensitivity / (root * budget.mu * (1 - GUARD))),)
    law = input_law(columns, budget, count, compat, ball)
    raised = 1 + GUARD
    return (
        MessagePart("row", columns, 2 * _RAISED, law.row / root * raised),
        MessagePart("product", columns, 2 * _RAISED, law.product / root * raised),
    )


def input_law(columns: int, budget: Budget, count: int, compat: str | None, ball: float) -> "InputLaw":
    """Noise and ridge of the input scheme, for the part of the budget that the minimum may spend."""
    assert isinstance(budget, Approx)
    if compat:
        return published(budget.epsilon, budget.delta, count, columns, ball)
    return corrected(budget.epsilon * (1 - FINAL), budget.delta * (1 - FINAL), count, columns, ball)


def final_mu(budget: Approx) -> float:
    """mu of the noise that hides how exactly a minimum was found; half of its delta pays for the lattice."""
    return Approx(budget.epsilon * FINAL, budget.delta * FINAL / 2).mu * (1 - GUARD)


def mark(plan_hash: str) -> str:
    """The hash that a message carries and the server expects.

    With the noise of :mod:`dpstats.testing` it is marked, so that a server counts such messages as of another
    plan unless it is under test itself.
    """
    return plan_hash if current().private else f"test:{plan_hash}"


_ROUNDING = 1e-6  # of a row's length and of the curvature, for messages that lie on a lattice


@dataclass(frozen=True)
class InputLaw:
    """Noise of n messages added up, and the ridge.

    Attributes
    ----------
    row, product : float
        s_u and s_b.
    ridge : float
        D.
    curvature : float
        What the noise of rows is sure to add to the curvature; 0 where that is not known.
    """

    row: float
    product: float
    ridge: float
    curvature: float


def published(epsilon: float, delta: float, n: int, columns: int, ball: float) -> InputLaw:
    """The paper's Algorithm 1. Its proof of a central guarantee is wrong.

    See docs/theory/contributions.md#what-is-wrong-with-the-published-proof.

    The ridge is what the noise of rows adds, 2 / epsilon by the paper's count. Noise of rows needs
    1 - 2 sqrt(log(2 / gamma) / n) > 0, that is n > 4 log(4 / delta).
    """
    gamma = delta / 2
    a = math.sqrt(math.log(2 / gamma) / n)
    left = 1 - 2 * a
    root = math.sqrt(2 * columns) * a
    row = (root + math.sqrt(root**2 + 2 / epsilon * left)) / left if left > 0 else math.inf
    product = (ball + 1) * math.sqrt(8 * math.log(2 / gamma) + 4 * epsilon) / epsilon
    return InputLaw(row, product, 0.0, 0.0)


def corrected(epsilon: float, delta: float, n: int, columns: int, ball: float) -> InputLaw:
    """Noise and ridge for which the minimum is (epsilon, delta)-private.

    See docs/theory/contributions.md#the-corrected-theorem.

    Notes
    -----
    Let s = s_u / sqrt n, t = sqrt(2 log(4 / delta)), and leave out the contributor who is replaced. With P
    the projection on what is orthogonal to the columns of the rows of the others, Q~'Q~ >= U'PU, a Wishart
    matrix with n - 1 - d degrees of freedom, so that but for a chance of delta / 4 its least eigenvalue is at
    least k0 = s^2 (sqrt(n - 1 - d) - sqrt d - t)_+^2, whatever the rows (Davidson & Szarek 2001). But for
    another delta / 4, the noisy row of the contributor is no longer than sqrt(l), l = (1 + s (sqrt d + t))^2.
    Both events are of U alone, hence the same for neighbours. Given such a U, this is objective perturbation
    of fixed rows with Gaussian noise b of the linear term: the ratio of determinants is at most
    1 + l / (k0 + D) <= e^(epsilon/2), and gradients of neighbours differ by v, |v| <= z = l ball + 2, for the
    difference of two positive matrices of rank one and of norm l has no larger norm. v lies in the span of
    four fixed vectors, so the ratio of densities of b is at most e^(epsilon/2) but where the projection of b
    on these is longer than q s_b, q the 1 - delta / 2 quantile of chi with 4 degrees of freedom: for
    x = z / s_b, q x + x^2 / 2 = epsilon / 2.

    s_u is the paper's; this theorem holds for any. Contributors beyond n only add curvature and noise.

    The theorem is of normal noise and exact minima. Messages carry discrete Gaussian noise, which differs
    from normal noise rounded to its lattice by less than 3 * 2^-84 for each number in total variation: for
    1e9 contributors and 100 columns by 4e-14 in all, and for fewer by less. Half a percent of delta, which is
    at most 1 / n, pays for that (:func:`dpstats.contributors.law.final_mu`). Of rows the lattice is paid for
    by a millionth of their length and of the curvature; of products, with all that computing a minimum
    rounds, by the last step of :func:`dpstats.estimators.contributed.fit_input`.
    """
    row = published(epsilon, delta, n, columns, ball).row
    t, s, d = math.sqrt(2 * math.log(4 / delta)), row / math.sqrt(n), math.sqrt(columns)
    sure = max(math.sqrt(max(n - 1 - columns, 0)) - d - t, 0.0)
    curvature = (s * sure) ** 2 * (1 - _ROUNDING)
    longest = (1 + s * (d + t)) ** 2 * (1 + _ROUNDING)
    ridge = max(0.0, longest / math.expm1(epsilon / 2) - curvature)
    z = longest * ball + 2
    quantile = float(scipy.stats.chi(4).ppf(1 - delta / 2))
    x = -quantile + math.sqrt(quantile**2 + epsilon)
    return InputLaw(row, z / x, ridge, curvature)

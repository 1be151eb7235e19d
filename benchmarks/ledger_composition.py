"""What ledgers say was spent, against the privacy loss distributions of dp-accounting: 1,000 random ledgers.

Each ledger has a random total and is charged random pure, zcdp, gdp and approx amounts, of Gaussian and of
unknown noise. What it accepted is composed by dp-accounting, too. At several delta neither the report's
epsilon nor the amount spent in the total's own kind may be below dp-accounting's; and nothing exceeds the
total. Run it with

    OMP_NUM_THREADS=1 python benchmarks/ledger_composition.py | tee benchmarks/results/ledger_composition.txt

dp-accounting rounds losses to a grid. It is asked to round down, and the epsilons of black boxes lie on the
grid, so that what it gives is not above the truth.
"""

import math
import random
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dp_accounting.pld import privacy_loss_distribution as pld

import dpstats as dps
from dpstats.budget import Approx, Budget, Zcdp
from dpstats.budget.rules import Charge
from dpstats.errors import BudgetError

GRID = 1e-3
DELTAS = (0.3, 0.1, 1e-3, 1e-6, 1e-9)  # the large ones tell a response from a Gaussian
KINDS = ("pure", "zcdp", "gdp", "approx")
DOWN = {"value_discretization_interval": GRID, "pessimistic_estimate": False, "use_connect_dots": False}


def by_dp_accounting(charges: Sequence[Charge]) -> pld.PrivacyLossDistribution:
    """The list as dp-accounting composes it; a rho of unknown noise stands for the Gaussian that has it."""
    total, square = pld.identity(GRID, False), 0.0
    for charge in charges:
        budget = charge.budget
        if charge.promise.gaussian:
            square += float(charge.promise.square or 0)
        elif isinstance(budget, Zcdp):
            square += 2 * budget.rho
        else:
            delta = budget.delta if isinstance(budget, Approx) else 0.0
            total = total.compose(black_box(budget.epsilon, delta))
    if square:
        total = total.compose(pld.from_gaussian_mechanism(1 / math.sqrt(square), **DOWN))
    return total


def black_box(epsilon: float, delta: float) -> pld.PrivacyLossDistribution:
    """The worst (epsilon, delta) mechanism; dp-accounting's own constructor knows no rounding down."""
    step, truth = round(epsilon / GRID), (1 - delta) / (1 + math.exp(-epsilon))
    masses = {step: truth, -step: 1 - delta - truth}
    return pld.PrivacyLossDistribution.create_from_rounded_probability(masses, delta, GRID, False)


def random_budget(rng: random.Random, kind: str, size: float) -> Budget:
    """A budget of about `size` in mu."""
    epsilon, delta = round(max(GRID, round(1.5 * size / GRID) * GRID), 3), 10 ** rng.uniform(-11, -7)
    if kind == "zcdp":
        return dps.zcdp(size**2 / 2)
    if kind == "gdp":
        return dps.gdp(size)
    return dps.pure(epsilon) if kind == "pure" else dps.approx(epsilon, delta)


def random_ledger(rng: random.Random, folder: Path, number: int) -> tuple[dps.Ledger, int]:
    """A ledger with one to eight charges accepted, and the number refused."""
    size = 10 ** rng.uniform(-1.5, 0.5)
    total = random_budget(rng, rng.choice(KINDS), size)
    if isinstance(total, Approx):
        total = dps.approx(2 * size, 10 ** rng.uniform(-7, -4))
    kinds = rng.sample(KINDS, rng.randint(1, 4))
    ledger, refused = dps.Ledger(folder / f"{number}.ledger", total=total), 0
    for _ in range(rng.randint(1, 8)):
        kind = rng.choice(kinds)
        charge = random_budget(rng, kind, size * 10 ** rng.uniform(-1.3, -0.3))
        gaussian = kind != "pure" and rng.random() < 0.5
        try:
            ledger.charge(charge, formula="y ~ x", method="made up", gaussian=gaussian)
        except BudgetError:
            refused += 1
    return ledger, refused


def excess(ledger: dps.Ledger) -> list[float]:
    """Relative excess of the report's epsilon over dp-accounting's; AssertionError if it falls short."""
    report, spent = ledger.report(), ledger.spent
    reference = by_dp_accounting([entry.charge for entry in report.entries])
    found = []
    for delta in DELTAS:
        theirs, ours = reference.get_epsilon_for_delta(delta), report.epsilon(delta)
        assert ours >= theirs * (1 - 1e-9) - 1e-12, (ledger, delta, ours, theirs)
        if theirs > 0.01 and math.isfinite(ours):
            found.append(ours / theirs - 1)
        if spent is not None and not (isinstance(spent, Approx) and spent.delta > delta):
            filtered = spent.to_approx(delta).epsilon
            assert filtered >= theirs * (1 - 1e-9) - 1e-12, (ledger, delta, filtered, theirs)
    if spent is not None:
        whole, used = list(vars(ledger.total).values()), list(vars(spent).values())
        assert all(part <= limit for part, limit in zip(used, whole, strict=False)), (spent, ledger.total)
    return found


def worst_pair_known(charge: Charge) -> bool:
    """Whether one pair of distributions is the worst; there is none for a rho of unknown noise."""
    return charge.gaussian or not isinstance(charge.budget, Zcdp)


if __name__ == "__main__":
    rng, accepted, rejected = random.Random(1), 0, 0
    gaps: dict[bool, list[float]] = {True: [], False: []}
    with tempfile.TemporaryDirectory() as work:
        for number in range(1000):
            ledger, refused = random_ledger(rng, Path(work), number)
            charges = [entry.charge for entry in ledger.entries()]
            accepted, rejected = accepted + len(charges), rejected + refused
            gaps[all(map(worst_pair_known, charges))] += excess(ledger)
    print(f"1,000 random ledgers: {accepted} charges accepted, {rejected} refused")
    print("spent and reported epsilon never below dp-accounting's, total never exceeded: yes")
    print(f"reported epsilon above dp-accounting's (grid {GRID}, rounded down):")
    for known, words in ((True, "exact curves"), (False, "with a rho of unknown noise, bounds")):
        found = gaps[known]
        low, high = statistics.median(found), statistics.quantiles(found, n=20)[-1]
        print(f"  {words}: {len(found)} comparisons, median {low:.2%}, 95 % below {high:.2%}")

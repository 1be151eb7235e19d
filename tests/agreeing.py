"""What a kind of budget says of one amount in its several ways must agree: it is tried at a budget."""

from collections.abc import Callable
from fractions import Fraction

from dpstats.budget import Gdp, Pure
from dpstats.budget.kinds import Budget
from dpstats.budget.rules import Charge, Promise, add, covers, exact
from dpstats.errors import BudgetError

_DELTAS = (1e-12, 1e-8, 1e-5, 1e-2)
_NEAR = Fraction(1, 10**6)  # of an amount, by which roundings may leave it unused


def faults_of_budget(budget: Budget) -> list[str]:
    """What disagrees with the noise that a fit under this budget draws."""
    checks: dict[str, Callable[[Budget, Pure | Gdp], bool]] = {
        "promise": _promises_what_is_drawn,
        "promise of no more": _is_drawn_in_full,
        "to_approx": _has_no_better_curve,
        "allowed": _pays_for_what_is_drawn,
        "rule": _enters_a_total_of_its_own,
        "split": _parts_are_no_more,
    }
    drawn = Pure(budget.epsilon) if budget.pure else Gdp(budget.mu)
    return [name for name, holds in checks.items() if not holds(budget, drawn)]


def _amounts(promise: Promise) -> tuple[Fraction | None, ...]:
    return promise.epsilon, promise.rho, promise.square


def _charged(budget: Budget) -> Promise:
    return budget.promise(gaussian=not budget.pure)


def _promises_what_is_drawn(budget: Budget, drawn: Pure | Gdp) -> bool:
    """A ledger that keeps what is promised keeps no less than what is drawn, however it counts."""
    for promise in (_charged(budget), budget.promise()):
        pairs = zip(_amounts(promise), _amounts(drawn.promise()), strict=True)
        if any(said is not None and (true is None or said < true) for said, true in pairs):
            return False
        if promise.pair is not None and promise.pair[1] > 0:
            epsilon, delta = map(float, promise.pair)
            if drawn.to_approx(delta).epsilon > epsilon * (1 + 1e-9):
                return False
        elif promise.pair is not None and (promise.epsilon is None or promise.pair[0] < promise.epsilon):
            return False
    return True


def _is_drawn_in_full(budget: Budget, drawn: Pure | Gdp) -> bool:
    """Nor does it keep more: noise of less than is paid for would be a loss that nobody sees."""
    pairs = zip(_amounts(_charged(budget)), _amounts(drawn.promise()), strict=True)
    return all(true >= said * (1 - _NEAR) for said, true in pairs if said is not None and true is not None)


def _has_no_better_curve(budget: Budget, drawn: Pure | Gdp) -> bool:
    for delta in _DELTAS:
        try:
            told = budget.to_approx(delta)
        except BudgetError:  # of a delta below its own
            continue
        if told.delta > delta or told.epsilon * (1 + 1e-9) < drawn.to_approx(delta).epsilon:
            return False
    return True


def _pays_for_what_is_drawn(budget: Budget, drawn: Pure | Gdp) -> bool:
    cost = budget.cost_of(drawn)
    return budget.allowed * (1 - _NEAR) <= cost <= budget.allowed


def _enters_a_total_of_its_own(budget: Budget, drawn: Pure | Gdp) -> bool:
    """A total pays for itself and hardly for more, and for what is drawn; what is spent is told in full."""
    charge, noise = Charge(budget, not budget.pure), Charge(drawn, not budget.pure)
    rule = budget.rule(charge)
    own, price = rule.cost(charge, rule.limit), rule.cost(noise, rule.limit)
    told = rule.told(own)
    more = add(own, tuple(part * _NEAR for part in own))
    return (
        covers(rule.limit, own)
        and covers(own, price)
        and not covers(rule.limit, more)
        and told.unit == budget.unit
        and exact(told.amount) >= exact(budget.amount) * (1 - _NEAR)
    )


def _parts_are_no_more(budget: Budget, drawn: Pure | Gdp) -> bool:
    parts = budget.split(0.2, 0.3, 0.5)
    costs = [budget.cost_of(Pure(part.epsilon) if budget.pure else Gdp(part.mu)) for part in parts]
    return budget.allowed * (1 - _NEAR) <= sum(costs) <= budget.allowed

"""Scores as floating point has them against 30 digits: within the error that their bounds leave room for."""

import math

import mpmath
import numpy as np
import pytest

from dpstats.families import LOGISTIC, NORMAL, SEV
from dpstats.families.martingale import integrands
from dpstats.families.score_bounds import Truncation, rounding, score_bounds

pytestmark = pytest.mark.long

mpmath.mp.dps = 30
CASES = {
    "sev": Truncation(SEV, 2.0, (-1.0, 2.0), (-4.0, 1.0)),
    "sev, late cut": Truncation(SEV, 64.0, (-8.0, 8.0), (-60.0, 40.0)),
    "logistic": Truncation(LOGISTIC, 1.0, (-1.0, 2.0), (-5.0, 2.0)),
    "logistic, late cut": Truncation(LOGISTIC, 64.0, (-4.0, 8.0), (-20.0, 10.0)),
    "normal": Truncation(NORMAL, 1.34, (-1.0, 2.0), (-4.0, 2.0), floor=-1.2),
    "normal, late cut": Truncation(NORMAL, 64.0, (-2.0, 8.0), (-14.0, 5.0), floor=-8.0),
}


def hazard(name, z):
    """Density of the hazard, and the cumulative one."""
    if name == "sev":
        return mpmath.exp(z), mpmath.exp(z)
    if name == "logistic":
        return 1 / (1 + mpmath.exp(-z)), mpmath.log1p(mpmath.exp(z))
    tail = mpmath.erfc(z / mpmath.sqrt(2)) / 2
    return mpmath.npdf(z) / tail, -mpmath.log(tail)


def exact(where, z, pivot):
    """A1 and A2 of a row, from their definitions alone but for the ends of the taper."""
    cut, name = where.cut, where.family.name
    start, stop = mpmath.mpf(cut.start), mpmath.mpf(cut.stop)
    low, high = map(mpmath.mpf, where.limits)

    def g(u):
        if u <= start:
            return 1
        if name == "sev":
            return max(2 - 2 * mpmath.exp(u) / cut.c, 0)
        if name == "logistic":
            end = mpmath.exp(-mpmath.mpf(cut.c))
            begin = min(3 * end, mpmath.mpf(0.95))
            return max((1 / (1 + mpmath.exp(u)) - end) / (begin - end), 0)
        return (stop - u) / (stop - start)

    def slope(u):
        if name == "sev":
            return 1
        if name == "logistic":
            return 1 / (1 + mpmath.exp(u))
        u = max(u, mpmath.mpf(cut.floor))
        return hazard(name, u)[0] - u

    def rho(u):
        return min(max(u - mpmath.mpf(pivot), low), high)

    last = min(mpmath.mpf(z), stop)
    begin = min(last, mpmath.mpf(0)) - 45
    turns = [start, pivot + low, pivot + high, mpmath.mpf(max(cut.floor, -99.0)), *range(-45, 64, 4)]
    edges = [begin, *sorted(turn for turn in {*turns} if begin < turn < last), last]
    a1 = mpmath.quad(lambda u: g(u) * slope(u) * hazard(name, u)[0], edges)
    a2 = mpmath.quad(lambda u: g(u) * (1 + rho(u) * slope(u)) * hazard(name, u)[0], edges)
    before = hazard(name, begin)[1] * (1 + abs(low)) * (1 + cut.steepest)  # at most
    return a1, a2, before


def errors(where, count=2, seed=1):
    """Largest errors of A1 and A2, as shares of what `rounding` allows."""
    draw, cut, allowed = np.random.default_rng(seed), where.cut, rounding(where)
    worst = [0.0, 0.0]
    for z in (cut.stop, cut.start, *draw.uniform(cut.start - 4, cut.stop, count)):
        pivot = float(draw.uniform(*where.pivots))
        found = integrands(cut, np.array([z]), np.array([pivot]), *where.limits)
        a1, a2, before = exact(where, z, pivot)
        assert before < allowed.integral / 100
        apart = abs(found.location_compensator[0] - a1), abs(found.log_sigma_compensator[0] - a2)
        shares = float(apart[0]) / allowed.integral, float(apart[1]) / allowed.chi
        worst = [max(pair) for pair in zip(worst, shares, strict=True)]
    return worst


@pytest.mark.parametrize("case", CASES)
def test_scores_are_as_exact_as_their_bounds_assume(case):
    """To a tenth of it at most; what is allowed is next to nothing beside the bounds."""
    where = CASES[case]
    assert max(errors(where)) < 0.1
    bounds, allowed = score_bounds(where, 0.7), rounding(where)
    assert 2 * allowed.psi < 1e-7 * bounds.psi and 2 * allowed.chi < 1e-7 * bounds.chi


@pytest.mark.parametrize("case", ["sev", "logistic", "normal"])
def test_an_integral_that_errs_is_seen(monkeypatch, case):
    """Planted: one part in 1e9 of an integral is lost; the bounds allow for less."""
    kind = CASES[case].family.taper
    whole = kind._integrals

    def planted(self, z, hazard):
        found = whole(self, z, hazard)
        return found._replace(location=found.location * (1 - 1e-9))

    monkeypatch.setattr(kind, "_integrals", planted)
    assert max(errors(CASES[case])) > 1


def test_more_room_where_rows_enter_late():
    for where in CASES.values():
        late = Truncation(where.family, where.c, where.pivots, where.limits, where.floor, delayed=True)
        assert score_bounds(late, 0.7).psi >= score_bounds(where, 0.7).psi
        assert math.isfinite(score_bounds(late, 0.7).sensitivity)

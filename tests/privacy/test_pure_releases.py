"""Pure epsilon through the curator: which noise, at what cost, and whether it holds (T1, T5, T9)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.budget import gdp, pure
from dpstats.curator import Curator
from dpstats.curator.law import Law, Sensitivity, pure_law
from dpstats.errors import BudgetError
from dpstats.schema import Unit
from dpstats.testing import NoNoise, Recording, Replay, SeededNoise, noise
from tests.made import MadeDesign, MadeRows, made_columns, under
from tests.privacy.harness import PUBLIC, Data, neighbours, violation
from tests.privacy.harness import curator as harnessed
from tests.privacy.totals import Totals, registered

BOTH = ("ranges", "l1")


@pytest.fixture(autouse=True)
def totals():
    with registered(Totals):
        yield


def curator(d=3, budget=pure(1), n=40, unit=None, source=None):  # noqa: B008
    rows = MadeRows(made_columns(n, d), **({"unit": unit} if unit else {}))
    return under(source, rows, MadeDesign(d), budget)


CHOICES = [
    ("linf", np.ones(10), BOTH),
    ("linf", np.linspace(1, 2, 5), BOTH),
    ("laplace", np.array([1.0, *[0.02] * 9]), BOTH),  # a scale of its own for each coordinate
    ("laplace", np.ones(1), BOTH),
    ("spherical", np.ones(10), ()),  # nothing is known but the L2 norm
    ("laplace", np.ones(257), ()),  # too many for a ball
    ("cylinder", np.array([0.5] * 9 + [2.0]), ("head",)),
]


@pytest.mark.parametrize(("law", "scale", "declared"), CHOICES)
def test_the_least_noise_is_chosen(law, scale, declared):
    d = len(scale)
    name, (sds,) = curator(d).noise("totals", 0.5, scale=scale, declared=declared)
    ranges, l2 = 2 * scale, 2 * np.linalg.norm(scale)
    if "ranges" not in declared:
        ranges = np.append(np.full(d - 1, l2), ranges[-1] if declared else l2)
    l1 = min(ranges.sum(), math.sqrt(d) * l2)
    roots = np.cbrt(ranges)
    offers = {
        ("laplace", "equal"): math.sqrt(2) * np.full(d, l1),
        ("laplace", "own"): math.sqrt(2) * roots * (roots**2).sum(),
        ("linf", ""): ranges * math.sqrt((d + 1) * (d + 2) / 3),
    }
    if d <= 256:
        offers["spherical", ""] = np.full(d, l2 * math.sqrt(d + 1))
    if "head" in declared:
        head, last = 2 * np.linalg.norm(scale[:-1]), ranges[-1] * math.sqrt((d + 1) / 3)
        offers["cylinder", ""] = np.append(np.full(d - 1, head), last) * math.sqrt(d + 2)
    best = min(offers, key=lambda key: (offers[key] ** 2).sum())
    assert name == best[0] == law
    assert sds == pytest.approx(offers[best] / 0.5, rel=1e-5)


def test_a_small_l1_norm_is_used():
    """Rows of one hot column: 2 in L1 whatever the width."""

    class OneHot(Totals):
        name = "one_hot"

        def __init__(self, design, **public):
            super().__init__(design, **public)
            self.sensitivity, self.sensitivity_l1, self.ranges = math.sqrt(2), 2.0, np.ones(len(self._scale))

    with registered(OneHot):
        law, (sds,) = curator(8).noise("one_hot", 1.0, scale=np.ones(8), declared=())
    assert law == "laplace" and sds == pytest.approx(np.full(8, 2 * math.sqrt(2)), rel=1e-5)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20),
    st.sampled_from([(), ("l1",), BOTH, ("head",)]),
)
def test_neighbours_lie_within_every_law_that_may_be_chosen(scale, declared):
    """Opposite corners, and the same in one coordinate alone."""
    statistic = Totals(MadeDesign(len(scale)), scale=scale, declared=declared)
    sensitivity = Sensitivity.of(statistic, 100, 1)
    difference = 2 * np.array(scale)
    assert np.linalg.norm(difference) <= sensitivity.l2 and difference.sum() <= sensitivity.l1
    assert (difference <= sensitivity.ranges).all()
    law = pure_law(sensitivity, 1.0)
    assert law.distance(difference) <= 1
    assert law.distance(np.eye(len(scale))[0] * difference) <= 1
    if declared == BOTH and law.name != "spherical":
        assert law.distance(difference) >= 1 - 1e-4


def test_a_unit_of_several_rows_has_all_its_noise_times_its_rows():
    scale = np.array([1.0, 0.5, 0.1])
    (one,), (three,) = (
        curator(unit=Unit("serial", rows)).noise("totals", 0.3, scale=scale)[1] for rows in (1, 3)
    )
    assert three == pytest.approx(3 * one, rel=1e-12)
    assert curator(unit=Unit("serial", 3)).cost_per_row(0.3) == pytest.approx(0.1)


def test_a_release_says_what_is_public_about_it():
    asking, scale = curator(), np.array([1.0, 0.5, 0.1])
    law, sds = asking.noise("totals", 0.5, scale=scale)
    release = asking.release("totals", 0.5, scale=scale)
    assert (release.law, release.cost, release.n) == (law, pure(0.5), 40)
    assert all((a == b).all() for a, b in zip(release.sds, sds, strict=True))
    assert release.sd == pytest.approx(math.sqrt(np.mean(release.sds[0] ** 2)))
    assert release.sensitivity == pytest.approx(2 * np.linalg.norm(scale), rel=1e-5)


def test_sds_of_a_symmetric_part_are_those_of_its_entries():
    (sds,) = curator(2).noise(
        "event_matrix",
        1.0,
        center=[0, 0],
        scale=[1, 1],
        y_center=0,
        y_scale=1,
        log=True,
        radius=1.0,
        limit=1.0,
    )[1]
    off = ~np.eye(4, dtype=bool)
    assert (sds == sds.T).all() and np.ptp(np.diag(sds)) == 0
    assert sds[off] == pytest.approx(np.full(12, sds[0, 0] / math.sqrt(2)))


def test_a_dry_run_reads_no_row_and_spends_nothing():
    class NoRows(MadeRows):
        def blocks(self, size=8192):
            raise AssertionError("a row was read")

    for budget in (pure(1), gdp(1)):
        asking = Curator(NoRows(made_columns(5, 2)), MadeDesign(2), budget)
        for _ in range(3):
            asking.noise("totals", 0.9, scale=np.ones(2))
    assert asking.noise("totals", 0.9, scale=np.ones(2))[0] == "gaussian"


def test_what_exceeds_the_total_is_refused_in_epsilon():
    small, public = curator(), dict(scale=np.ones(3))
    small.release("totals", 0.6, **public)
    with pytest.raises(BudgetError, match="'totals' costs epsilon = 0.5, but only epsilon = 0.4 is left"):
        small.release("totals", 0.5, **public)
    small.release("totals", 0.4, **public)
    for wrong in (0.0, math.nan, math.inf):
        with pytest.raises(BudgetError, match="the epsilon of release 'totals' must be positive"):
            small.release("totals", wrong, **public)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(1e-3, 1), min_size=1, max_size=25), st.floats(1e-3, 50))
def test_shares_of_the_total_fit_and_never_overspend(weights, total):
    with registered(Totals):
        recording = Recording(NoNoise())
        spending = curator(1, pure(total), 1, source=recording)
        for weight in weights:
            spending.release("totals", total * (weight / math.fsum(weights)), scale=[1.0])
        assert sum(Fraction(record.cost) for record in recording.records) <= Fraction(total)
        with pytest.raises(BudgetError):
            spending.release("totals", total * 1e-4, scale=[1.0])


def everything(data: Data) -> None:
    """Each registered statistic, and totals under each law, one with a scale from an earlier release."""
    asking = harnessed(data, pure(30))
    for name in sorted(PUBLIC):
        asking.release(name.split()[0], 1.0, **PUBLIC[name])
    for _, scale, declared in CHOICES:
        released = asking.release("totals", 1.0, scale=scale[:3], declared=declared)
    asking.release("totals", 1.0, scale=np.clip(np.abs(released.values[0]), 0.1, 10))


@settings(max_examples=60, deadline=None)
@given(neighbours())
def test_neighbours_with_wild_values_stay_within_every_law(pair):
    with registered(Totals):
        assert violation(everything, *pair) is None


def made(data, kind):
    return kind(MadeRows(data), MadeDesign(3), pure(1))


class HalvedRanges(Totals):
    name = "halved"

    def __init__(self, design, **public):
        super().__init__(design, **public)
        self.ranges = self.ranges / 2


class HalvedHead(Totals):
    name = "halved"

    def __init__(self, design, *, scale, declared=()):
        super().__init__(design, scale=scale, declared=("head",))
        self.sensitivity_head /= 2


class HalvedL1(Totals):
    name = "halved"

    def __init__(self, design, **public):
        super().__init__(design, **public)
        self.sensitivity_l1 /= 8


@pytest.mark.parametrize("fault", [HalvedRanges, HalvedHead, HalvedL1])
def test_bounds_that_are_too_small_are_caught(fault):
    def fit(kind):
        return lambda data: made(data, Curator).release(kind.name, 1.0, scale=np.ones(3))

    first = made_columns(5, 3)
    second = {**first, "x": np.vstack([np.ones(3), first["x"][1:]])}
    first["x"][0] = -1
    with registered(fault):
        assert violation(fit(fault), first, second) == "halved moved beyond its sensitivity"
    assert violation(fit(Totals), first, second) is None


class ByTheData(Curator):
    """Chooses the law by what it has read."""

    def _law(self, name, sensitivity, cost):
        law = super()._law(name, sensitivity, cost)
        first = next(iter(self._blocks)).exog[0, -1]
        return Law("laplace", law.axes * 3, law.cost) if first > 0 else law


def test_a_law_chosen_by_the_data_is_caught():
    def fit(kind):
        return lambda data: made(data, kind).release("totals", 1.0, scale=np.ones(3))

    first, second = made_columns(5, 3), made_columns(5, 3)
    second["x"][0, -1] *= -1
    assert violation(fit(ByTheData), first, second) == "totals has noise of another law"
    assert violation(fit(Curator), first, second) is None


def test_replayed_and_seeded_noise():
    recording = Recording(SeededNoise(1))
    answers = []
    for source in (recording, Replay(recording.answers)):
        with noise(source):
            asking = curator()
            answers.append(asking.release("totals", 1.0, scale=np.ones(3)).values[0])
            assert asking.not_private
    assert (answers[0] == answers[1]).all()
    assert (recording.records[0].law.name, recording.records[0].cost) == ("linf", 1 - 1e-9)

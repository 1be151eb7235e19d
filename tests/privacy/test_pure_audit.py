"""T5 on noise of pure epsilon: what releases spend through the curator, and whether half of it is seen."""

import numpy as np
import pytest
from scipy import stats

from dpstats.budget import pure
from dpstats.curator.knorm import pure as pure_noise
from dpstats.curator.law import Sensitivity, pure_law
from dpstats.curator.mechanisms import SecureNoise
from tests.made import MadeDesign, MadeRows, under
from tests.privacy.totals import Totals, registered

pytestmark = pytest.mark.long

BOTH = ("ranges", "l1")


@pytest.fixture(autouse=True)
def totals():
    with registered(Totals):
        yield


class HalvedNoise(SecureNoise):
    def pure(self, value, law, axes, epsilon):
        return pure_noise(value, law, axes / 2, epsilon)


MISS = 1e-6
AUDITED = {  # law, scale, what is declared, share of the largest loss that the event asks for, runs
    "laplace": (np.array([1.0, 0.01]), BOTH, 0.6, 1500),
    "linf": (np.ones(2), BOTH, 0.6, 1500),
    "spherical": (np.ones(2), (), 0.6, 3000),
    "cylinder": (np.array([1.0, 0.5]), ("head",), 0.6, 1500),
}
# chances of the event under the two rows, sound and with noise that is halved; two million draws of numpy
CHANCES = {
    "laplace": ((0.5813, 0.2293), (0.6500, 0.1052)),
    "linf": ((0.5906, 0.2245), (0.6648, 0.1010)),
    "spherical": ((0.4017, 0.1705), (0.4894, 0.0897)),
    "cylinder": ((0.5906, 0.2245), (0.6648, 0.1010)),
}


def audited(law, source):
    """Lower bound on epsilon (claim: 1) from two rows in opposite corners, right with probability 1 - 1e-6.

    The event is where the loss is large; it is fixed by the law, before anything is drawn.
    """
    scale, declared, share, runs = AUDITED[law]
    corners = [np.ones(2), -np.ones(2)]
    sides = []
    for corner in corners:
        columns = {"x": corner[None], "time": np.ones(1), "event": np.ones(1)}
        released = []
        for _ in range(runs):
            asking = under(source, MadeRows(columns), MadeDesign(2), pure(1))
            released.append(asking.release("totals", 1.0, scale=scale, declared=declared))
        assert released[0].law == law
        sides.append(np.array([release.values[0] for release in released]))
    chosen = pure_law(Sensitivity.of(Totals(MadeDesign(2), scale=scale, declared=declared), 1, 1), 1.0)
    events, others = (
        sum(chosen.distance(y + scale) - chosen.distance(y - scale) > share for y in side) for side in sides
    )
    return float(lower_bound(events, others, runs))


def lower_bound(events, others, runs):
    """Clopper and Pearson's, of both chances at once."""
    at_least = stats.beta.ppf(MISS / 2, events, runs - events + 1)
    at_most = stats.beta.isf(MISS / 2, others + 1, runs - others)
    return np.log(at_least / at_most)


@pytest.mark.parametrize("law", sorted(AUDITED))
def test_no_more_epsilon_is_spent_than_claimed(law):
    """Fails by chance less often than once in 10^10 runs, by the next test but one."""
    assert 0.2 < audited(law, None) <= 1


@pytest.mark.parametrize("law", sorted(AUDITED))
def test_halved_noise_is_caught(law):
    """Fails by chance less often than once in 10^8 runs, by the next test."""
    assert audited(law, HalvedNoise()) > 1


@pytest.mark.parametrize("law", sorted(AUDITED))
def test_the_audits_hardly_ever_fail_by_chance(law):
    """Both chances summed over all counts that may come, from the chances of the event."""
    runs, counts = AUDITED[law][-1], np.arange(1, AUDITED[law][-1])
    bounds = lower_bound(counts[:, None], counts, runs)
    failures = []
    for wrong, chances in zip(((bounds <= 0.2) | (bounds > 1), bounds <= 1), CHANCES[law], strict=True):
        first, second = (stats.binom.pmf(counts, runs, chance) for chance in chances)
        failures.append(first @ wrong @ second)
    assert failures[0] < 1e-10 and failures[1] < 1e-8

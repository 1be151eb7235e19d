"""What luck of noise may do, so that a test of fits fails for a fault and not for its seeds.

Last digits differ between processors, and with them the noise that a fit meets: a test holds on all of them
if no seed was chosen for it. ``pytest --other-noise K`` gives each seed another noise, to see which tests
rest on their seeds.
"""

from scipy import stats

LUCK = 1e-4  # how often a claim that is true may fail, over all noise


def fewest(count: int, chance: float) -> int:
    """Of `count` independent fits so many do what each does with this chance, but for bad luck."""
    return int(stats.binom.ppf(LUCK, count, chance))


def most(count: int, chance: float) -> int:
    """Of `count` independent fits no more do what each does with this chance, but for bad luck."""
    return int(stats.binom.isf(LUCK, count, chance))

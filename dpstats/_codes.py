"""Codes of what an estimate tells of itself; results/cautions.py has the words for each.

An estimator adds them to the problems of its estimate. Users see them as those of cautions, some by another
name, and saved fits hold them: a text stays as it is.
"""

from collections.abc import Iterable

# of the whole fit
ALL_LOST = "hopeless"
APART = "apart"
BURST = "burst"
CHANGING = "changing"
CONSTANT = "constant"
EVEN = "even"
FAR_RESPONSES = "far"
LAW = "law"
NOISY = "budget"
PUBLISHED = "published"
SEPARATED = "separated"
SHAPE = "shape"
STRAIGHT = "straight"
TAIL = "tail"
UNSETTLED = "unsettled"
# of the whole fit, with the rows of 100 that it is about
UNUSABLE = "unusable"
# of a coefficient, and also of the whole fit
BENDS = "bends"
# of a coefficient
BESIDE = "beside"
LOST = "not_estimable"
OPEN_ENDED = "open"
RANGE = "range"
WEAK = "weak"


def problems_at(code: str, places: Iterable[int]) -> tuple[str, ...]:
    """Problems of the coefficients that stand at these places, such as "weak:2"."""
    return tuple(f"{code}:{place}" for place in places)


def places_of(code: str, problems: Iterable[str]) -> list[int]:
    """Places, or other numbers, that problems of this code are about."""
    head = f"{code}:"
    return [int(each.removeprefix(head)) for each in problems if each.startswith(head)]

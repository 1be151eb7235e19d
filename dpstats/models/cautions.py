"""What the codes of an estimator mean, in words for the table."""

from __future__ import annotations

from collections.abc import Sequence

_WHOLE = {
    "budget": (
        "below_budget",
        "near the end of the usable range of this budget: intervals are widened, take them as rough",
    ),
    "hopeless": (
        "not_estimable",
        "privacy noise outweighs these data: nothing can be estimated; use more rows or budget",
    ),
    "unsettled": (
        "unsettled",
        "the averaged steps scatter more than their noise explains; intervals were widened for it",
    ),
}
_WEAK = "privacy noise hides most of what the data say about {}; its interval rests on a wide guess"


def cautions(problems: Sequence[str], names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Codes with their messages; coefficients that are weakly identified stand in one."""
    found = [_WHOLE[code] for code in _WHOLE if code in problems]
    weak = [names[int(problem.partition(":")[2])] for problem in problems if problem.startswith("weak:")]
    if weak:
        found.append(("weak", _WEAK.format(", ".join(weak))))
    return tuple(found)

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
_NAMED = {
    "weak": (
        "weak",
        "privacy noise hides most of what the data say about {}; its interval rests on a wide guess",
    ),
    "beyond": (
        "beyond_bounds",
        "much of the information on {} lies beyond the bounds of the score (see Estimand): its estimate "
        "describes the rows within",
    ),
}


def cautions(problems: Sequence[str], names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Codes with their messages, coefficients of one code together."""
    found = [_WHOLE[code] for code in _WHOLE if code in problems]
    for prefix, (code, words) in _NAMED.items():
        which = [
            names[int(problem.partition(":")[2])] for problem in problems if problem.startswith(prefix + ":")
        ]
        if which:
            found.append((code, words.format(", ".join(which))))
    return tuple(found)

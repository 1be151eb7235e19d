# ruff: noqa: E501 - the texts that are replaced stand as they are
"""Sensitivities that are too small: each statistic's search over pairs of rows must find one."""

from tests.mutants.mutant import Mutant, planted

SEARCH = "privacy/test_worst_case.py::test_the_search_reaches_the_sensitivity_and_never_passes_it"
RANGES = "privacy/test_worst_case.py::test_the_search_reaches_every_range_and_never_passes_it"
L1 = "privacy/test_worst_case.py::test_the_search_reaches_the_l1_norm_and_never_passes_it"


def small(what: str, name: str, file: str, old: str, new: str, test: str = SEARCH, at: str = "0-1") -> Mutant:
    """Of the statistic `name`, in the search with this space and number of covariates."""
    return planted(what, f"{test}[{name}-{at}]", (f"curator/statistics/{file}.py", old, new))


MUTANTS = (
    small("event moments: two events are forgotten", "event_moments", "moments",
          "max(4 * k, 3.56 * k + 2.25)", "3.56 * k + 2.25", at="0-6"),
    small("event moments: the count is free", "event_moments", "moments",
          "max(4 * k, 3.56 * k + 2.25)", "max(4 * k, 3.56 * k)"),
    small("event moments: ranges of one sign, |lo| for hi - lo (diffprivlib, IBM#105)", "event_moments", "moments",
          "np.repeat([2.0, 1.6, 1.5], [k, k, 1])", "np.repeat([1.0, 1.6, 1.5], [k, k, 1])", RANGES),
    small("event moments: clipped into a new array, the old one used (SmartNoise)", "event_moments", "moments",
          "np.clip(right[:k], -1.0, 1.0, out=right[:k])", "np.clip(right[:k], -1.0, 1.0)"),
    small("means where rows reach: one row more, not one replaced", "reach_means", "reach",
          "self.sensitivity, self.sensitivity_l1 = 2 * math.sqrt(self._count)",
          "self.sensitivity, self.sensitivity_l1 = math.sqrt(self._count)"),
    small("counts where rows reach: a row counts once, whatever its columns", "reach_counts", "reach",
          "math.sqrt(2 * self._count), 2.0", "math.sqrt(2), 2.0"),
    small("counts where rows reach: in every cell that a row is beyond", "reach_counts", "reach",
          "np.greater(beyond[:-1], beyond[1:], out=counts)", "np.copyto(counts, beyond[:-1])"),
    small("event matrix: one row more, not one replaced", "event_matrix", "moments",
          "self.sensitivity = math.sqrt(2) * limit**2", "self.sensitivity = limit**2"),
    small("event matrix: long rows are not shortened", "event_matrix", "moments",
          "np.multiply(row, shorten(row, self._limit, scratch), out=row)", "np.multiply(row, 1.0, out=row)", at="1-1"),
    small("truncated matrix: one row more, not one replaced", "truncated_gram", "truncated",
          "(math.sqrt(2) if self._rows.k > 1 else 1.0) * self._rows.radius**2", "self._rows.radius**2"),
    small("truncated triangle: half", "truncated_triangle", "truncated",
          "self.sensitivity = 2 * square", "self.sensitivity = square"),
    small("truncated products: as if all responses had one sign", "truncated_cross", "truncated",
          "self.sensitivity = 2 * radius * limit", "self.sensitivity = radius * limit"),
    small("truncated score of a GLM: half", "truncated_score", "truncated_glm",
          "self.sensitivity = 2 * self._radius * self._most", "self.sensitivity = self._radius * self._most"),
    small("residual moments: fourth moments are free", "residual_moments", "residuals",
          "math.sqrt(8 + extra)", "math.sqrt(6 + extra)"),
    small("residual score: one row more, not one replaced", "residual_score", "score",
          "self.sensitivity = 2 * radius * limit", "self.sensitivity = radius * limit"),
    small("box moments: entries are free off the diagonal", "box_moments", "box",
          "self.sensitivity = math.sqrt(2) * m", "self.sensitivity = m"),
    small("box moments: the L1 norm of the half", "box_moments", "box",
          "self.sensitivity_l1 = m**2 / math.sqrt(2) + (1 - 1 / math.sqrt(2)) * m",
          "self.sensitivity_l1 = m**2 / math.sqrt(2)", L1),
    small("location score: the steepest part alone", "location_score", "martingale",
          "self.sensitivity = self._cut.steepest + top", "self.sensitivity = self._cut.steepest"),
    small("martingale score: half", "martingale_score", "martingale",
          "self.sensitivity = radius * bounds.sensitivity", "self.sensitivity = radius * bounds.sensitivity / 2"),
    small("score alone: its last entry is free", "score_alone", "martingale_parts",
          "self.sensitivity = math.hypot(2 * size, last)", "self.sensitivity = 1.2 * size"),
    small("sizes of the information: only the first moves", "information_sizes", "martingale_parts",
          "self.sensitivity = float(np.linalg.norm(self.ranges))", "self.sensitivity = float(self.ranges[0])"),
    small("signs: one row more, not one replaced", "sign_score", "signs",
          "self.sensitivity = 2 * radius", "self.sensitivity = radius"),
    small("exit counts: one count moves, not two", "exit_counts", "exits",
          "math.sqrt(2), 2.0", "1.0, 2.0"),
    small("contrasts of hazards: events as the zone before has them", "hazard_contrasts", "contrasts",
          "steps[max(end - 1, 0) : end + 1]", "steps[max(end - 1, 0) : max(end, 1)]"),
    small("contrasts of hazards: rows that enter late collect no more than others", "hazard_contrasts",
          "contrasts", "range(end + 1) if delayed else (0,)", "(0,)", at="3-1"),
    small("contrasts of hazards: one row more, not one replaced", "hazard_contrasts", "contrasts",
          "apart = corners[:, None] - corners", "apart = corners[:, None]"),
    small("log-likelihood: half the range", "log_likelihood", "loglik",
          "self.sensitivity = high - low", "self.sensitivity = (high - low) / 2"),
    small("means of columns: one sign", "column_means", "columns",
          "self.sensitivity = 2 * math.sqrt(count)", "self.sensitivity = math.sqrt(count)"),
    small("octaves of columns: one row more, not one replaced", "column_octaves", "columns",
          "math.sqrt(2 * count), 2.0 * count", "math.sqrt(count), 2.0 * count"),
    small("logistic score: one row more, not one replaced", "logistic_score", "glm",
          "self.sensitivity = 2 * radius", "self.sensitivity = radius"),
    small("score of a GLM: its squares are free", "glm_score", "glm",
          "math.sqrt(4.5) * radius * limit", "math.sqrt(2) * radius * limit"),
    small("scores of a margin: one row more, not one replaced", "margin_sandwich", "margin",
          "self.sensitivity = math.sqrt(2 * loss.joint)", "self.sensitivity = math.sqrt(loss.joint)"),
    small("functional mechanism: half in L2", "functional_weights", "functional",
          "(6.0 if d else 4.0), longest", "(3.0 if d else 2.0), longest"),
    small("functional mechanism: half in L1", "functional_weights", "functional",
          "(6.0 if d else 4.0), longest", "(6.0 if d else 4.0), longest / 2", L1),
    planted(
        "functional mechanism as published: a quarter",
        "privacy/test_every_replay.py::test_a_row_that_is_replaced[survreg-weibull-functional-paper-pure-all fail]",
        ("curator/statistics/functional.py", "max(2 * longest, longest + self._of_q)", "longest / 2"),
    ),
)

# ruff: noqa: E501 - the texts that are replaced stand as they are
"""Faults of perturbed objectives: the tilt, its slack, and minima that are not exact."""

from tests.mutants.mutant import planted

TILT, OBJECTIVE, UNIT_ROWS = "curator/tilt.py", "curator/objective.py", "curator/unit_rows.py"
SOLVER = "curator/solver.py"
AUDIT = "privacy/test_objective_audit.py::test_densities_stay_within_the_claim_and_faults_are_caught"
SPLIT = "curator/test_tilt_costs.py::test_what_a_cost_pays_for_is_no_more_than_it"

MUTANTS = (
    planted(
        "bars tell how many passes the rows asked for",
        "curator/test_engines.py::test_no_bar_tells_how_many_passes_the_rows_asked_for",
        ("curator/curator.py", "silent=next(passes) > PASSES", "silent=False"),
    ),
    planted(
        "R for R^2 in the slack (diffprivlib LogisticRegression)",
        f"{AUDIT}[R for R^2]",
        (
            OBJECTIVE,
            "slack(self.ridge, loss.steepest * self.rows.longest)",
            "slack(self.ridge, loss.steepest)",
        ),
    ),
    planted(
        "the lattice of a tilt of little cost is as fine as that of others",
        "curator/test_tilt_lattice.py::test_tau_counts_the_cells_of_the_lattice_however_little_a_tilt_costs[0.0001]",
        (
            OBJECTIVE,
            "np.maximum(np.minimum(tilt.axes, tilt.sds) * 2.0**-40, tilt.sds * 2.0**-48)",
            "np.minimum(tilt.axes, tilt.sds) * 2.0**-40",
        ),
    ),
    planted(
        "no slack for the determinant (PSI dpGLM)",
        f"{AUDIT}[no determinant]",
        (TILT, "return math.log1p(curvature / ridge)", "return 0.0 * curvature / ridge"),
    ),
    planted(
        "the intercept is not penalised (diffprivlib)",
        f"{AUDIT}[intercept without penalty]",
        (
            OBJECTIVE,
            "return Point(params, gradient,",
            "gradient = gradient - self.ridge * params * (np.arange(k) == 0)\n        return Point(params, gradient,",
        ),
        (
            OBJECTIVE,
            "+ self.ridge * np.eye(k))",
            "+ self.ridge * np.diag((np.arange(k) > 0) + 1e-9))",
        ),
    ),
    planted(
        "what rows of a level have lost of their slopes is not asked",
        "models/test_svm_straight.py::test_a_level_that_is_nearly_half_and_half_is_not_silently_on_the_wrong_side",
        ("estimators/objective/penalised.py", "for side, *told in levels:", "for side, *told in levels[:0]:"),
    ),
    planted(
        "two standard errors of a middle ask for any share of yes",
        "estimators/test_objective.py::test_a_middle_that_is_known_badly_lies_no_farther_than_the_share_of_yes_allows[3.5]",
        ("estimators/objective/debiased.py", "(asked - np.clip(asked, *ends))", "0.0"),
    ),
    planted(
        "noise along one direction tells whether several that have no curvature are believed",
        "estimators/test_unrelated.py::test_an_eigenvalue_that_noise_alone_has_made_is_seldom_believed",
        ("estimators/objective/debiased.py", "np.maximum(believed(noise), edges)", "believed(noise)"),
    ),
    planted(
        "noise that was taken off pairs without a correlation counts as if it were left",
        "estimators/test_unrelated.py::test_noise_that_is_taken_off_does_not_count",
        (
            "estimators/known/unrelated.py",
            "kept[first, second] = kept[second, first] = left",
            "kept[first, second] = kept[second, first] = 1.0",
        ),
    ),
    planted(
        "all pairs of columns are shrunk alike",
        "estimators/test_unrelated.py::test_one_correlation_among_many_pairs_is_not_shrunk_with_them",
        (
            "estimators/known/unrelated.py",
            "gain = each @ gains",
            "gain = np.full(len(each), max(0.0, 1 - 1 / float(seen.mean())))",
        ),
    ),
    planted(
        "errors across the straight part are taken on the user's scale",
        "models/test_far_from_0.py::test_a_column_far_from_0_has_the_fit_of_the_shifted_column[svm-x-0]",
        (
            "estimators/objective/penalised.py",
            "gradient = inner @ result.inside @ inner",
            "gradient = inner @ ball.from_user @ result.cov @ ball.from_user.T @ inner",
        ),
    ),
    planted(
        "cells of products have no sides",
        "models/test_svm_straight.py::test_a_level_that_is_nearly_half_and_half_is_not_silently_on_the_wrong_side",
        ("formula/layout.py", "if one and one <= levels.keys()", "if len(one) == 1 and one <= levels.keys()"),
    ),
    planted(
        "the reference level has no side",
        "formula/test_design.py::test_sides_are_1_at_a_level_or_in_a_cell_and_0_in_all_others",
        ("formula/layout.py", "if one <= set(several)]", "if one and one <= set(several)]"),
    ),
    planted(
        "covariates over the largest there are (PSI, PrivateLR)",
        "privacy/test_every_replay.py::test_a_row_that_is_replaced[svm-objective-pure]",
        (
            UNIT_ROWS,
            "np.subtract(block.exog.T, self._center[:, None], out=signed)",
            "np.subtract(block.exog.T, self._center[:, None], out=signed)\n"
            "            signed *= (self._size / np.maximum(2 * np.abs(signed).max(axis=1), 1e-3))[:, None]",
        ),
    ),
    planted(
        "rows are whitened when they have been weighed",
        "privacy/test_worst_case.py::test_the_search_reaches_the_sensitivity_and_never_passes_it"
        "[margin_curvature-2-1]",
        (
            UNIT_ROWS,
            '        weight = memory("weight", len(block.ok))',
            "        late = signed.copy()\n"
            "        if self._whitened is not None:\n"
            "            signed[:] = (block.exog.T - self._center[:, None]) / self._size[:, None]\n"
            '        weight = memory("weight", len(block.ok))',
        ),
        (
            UNIT_ROWS,
            "        sign = np.where",
            "        signed[:] = late\n        sign = np.where",
        ),
    ),
    planted(
        "the tilt of one row more, where one is replaced",
        f"{AUDIT}[one row for two]",
        (OBJECTIVE, "far = 2 * rows * RAISED", "far = rows * RAISED"),
    ),
    planted(
        "a Gaussian tilt for one row more, where one is replaced: twice mu",
        SPLIT,
        (TILT, "math.sqrt(cost**2 - rest**2) / (2 * rows)", "math.sqrt(cost**2 - rest**2) / rows"),
    ),
    planted(
        "the share for the inexact minimum is not deducted",
        SPLIT,
        (TILT, "pure_epsilon((cost - rest) / rows, c)", "pure_epsilon(cost / rows, c)"),
    ),
    planted(
        "the share for the inexact minimum is not deducted from Gaussian noise",
        SPLIT,
        (TILT, "math.sqrt(cost**2 - rest**2)", "cost"),
    ),
    planted(
        "the tilt of a unit is that of a row",
        SPLIT,
        (TILT, "pure_epsilon((cost - rest) / rows, c)", "pure_epsilon(cost - rest, c)"),
    ),
    planted(
        "the last noise hides tau instead of 2 tau",
        "curator/test_tilt_costs.py::test_two_answers_as_far_apart_as_allowed_are_hidden",
        (OBJECTIVE, "+ 2 * tau", "+ tau"),
    ),
    planted(
        "output perturbation hides one row more, not one replaced",
        "privacy/test_every_replay.py::test_a_row_that_is_replaced[svm-output-pure-c]",
        (
            OBJECTIVE,
            "l2 = ((0.0 if self.tilted else 2.0 * rows * RAISED)",
            "l2 = ((0.0 if self.tilted else 0.02 * rows * RAISED)",
        ),
    ),
    planted(
        "output perturbation of a unit hides one row",
        "curator/test_objective.py::test_a_unit_of_several_rows_gets_the_noise_of_as_many_replacements",
        (OBJECTIVE, "2.0 * rows * RAISED)", "2.0 * RAISED)"),
    ),
    planted(
        "curvature beyond the steepest that is declared is released",
        "privacy/test_worst_case.py::test_the_search_reaches_the_sensitivity_and_never_passes_it[margin_curvature-3-1]",
        ("curator/statistics/margin.py", "np.minimum(curvature, self._steepest)", "curvature"),
    ),
    planted(
        "long rows of a margin weigh as much as short ones",
        f"{AUDIT}[R for R^2]",
        (UNIT_ROWS, "        if not self._inside:", "        if False:"),
    ),
    planted(
        "the offset is left out of how far a row can pull",
        "curator/test_objective.py::test_an_offset_pulls_at_a_row_as_far_as_its_public_bounds_let_it",
        (UNIT_ROWS, "float(np.linalg.norm(params)) + self.most_offset", "float(np.linalg.norm(params))"),
    ),
    planted(
        "the minimum after some steps, certified or not",
        "curator/test_solver.py::test_every_answer_is_certified",
        (SOLVER, "while not tolerance.reached(point):", "for _ in range(8):"),
    ),
    planted(
        "answers to long tilts are not brought back to the public ball",
        "curator/test_solver.py::test_no_tilt_is_too_long",
        (
            OBJECTIVE,
            "return params * min(1.0, farthest / max(float(np.linalg.norm(params)), farthest))",
            "return params",
        ),
    ),
    planted(
        "sums of blocks are added in floats, in the order in which workers answer",
        "curator/test_objective.py::test_the_gradient_is_within_the_proved_rounding_however_rows_are_parted",
        (OBJECTIVE, "math.fsum(column)", "sum(column)"),
    ),
    planted(
        "a penalty that floats cannot certify is taken",
        "curator/test_solver.py::test_what_floats_cannot_certify_is_refused_before_anything_is_spent",
        (OBJECTIVE, "        self._check(n)\n", ""),
    ),
)

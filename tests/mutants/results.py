# ruff: noqa: E501 - the texts that are replaced stand as they are
"""Faults of models and results: what is charged, for whom, and what a result holds."""

from tests.mutants.mutant import Mutant, planted

CHARGE = "privacy/test_every_charge.py::"
WHOLE = CHARGE + "test_the_whole_cost_is_charged_before_the_first_draw_and_stays"
LIMITS = "results/test_limits.py::test_limits_of_a_number_are_quantiles_of_its_stated_error"
REPLAY = "privacy/test_every_replay.py::test_a_row_that_is_replaced"
TRACE = "privacy/test_every_trace.py::test_a_result_holds_and_shows_no_row"
PAYERS = {  # file of a model: a case of it
    "kaplan_meier": "kaplan_meier-zcdp",
    "linear": "ols-gram-zcdp",
    "glm": "logit-newton-zcdp",
    "survreg": "survreg-weibull-newton-zcdp",
    "functional": "survreg-weibull-functional-pure",
    "svm": "svm-objective-pure",
}
PAYS = {  # what a page pays with, and where it publishes that
    "kaplan_meier": ("budget, ledger, method", "**facts"),
    "linear": ("budget, ledger, named", "**facts"),
    "glm": ("budget, ledger, NEWTON_METHOD", "_publish(facts, of_formula(result, design)"),
    "functional": ("budget, ledger, how", "            facts,\n            design"),
    "svm": ("budget, ledger, how", "        kind,\n        facts"),
}
FACTS = "models/skeleton.py"
LAW, EVENTS = "estimators/location_scale/event_law.py", "estimators/test_event_law.py::test_"
BURST = "models/test_coxph.py::test_"
NEWTON, SCALE = "estimators/newton/estimate.py", "estimators/location_scale/estimate.py"
LINES = "estimators/location_scale/level_lines.py"
RAY = "estimators/newton/ray.py"
HELD = "estimators/test_ray.py::test_slopes_of_rows_that_are_predicted_with_near_certainty_are_held["
LEVELS, ALONE = "estimators/newton/level_coefficients.py", "estimators/test_levels_alone.py::test_"
SPREAD, HONEST = "moments/spread.py", "models/test_linear_honest.py::test_"
DEBIASED, BIAS = "estimators/objective/debiased.py", "estimators/objective/debiased.py"
UNIT_BALL, CORRECTION = "estimators/objective/bounds.py", "estimators/test_objective.py::test_"
CURVES = "estimators/test_curves.py::"
COLUMNS_LAW = "estimators/column_law.py"
BENT, BENT_TIMES = "estimators/bent_times.py", "estimators/test_bent_times.py::"
ONCE, ONE_BEND = "estimators/one_bend.py", "estimators/test_one_bend.py::"
GRAM, DOUBT = "estimators/gram/estimate.py", "estimators/test_gram_doubt.py::test_"
FAR = "estimators/gram/far.py"
SECOND_ORDER, SETTLED = "estimators/test_second_order.py::test_", "estimators/test_settled.py::test_"


def _file(model: str) -> str:
    return f"models/{'survreg' if model == 'functional' else model}.py"


def unpaid(model: str, case: str) -> Mutant:
    return planted(
        f"a fit is not charged to its ledger ({model})",
        f"{WHOLE}[{case}]",
        (_file(model), PAYS[model][0], PAYS[model][0].replace("ledger", "None")),
    )


def late(model: str, case: str) -> Mutant:
    """The curator refuses to be paid after a release, so that the fault must go round it."""
    paid, shown = PAYS[model]
    start = f"pay(curator, {'' if model in ('functional', 'svm') else 'self.'}design, {paid}"
    return planted(
        f"the ledger is charged after the noise ({model})",
        f"{WHOLE}[{case}]",
        (_file(model), f"facts = {start}", f"paid = lambda: {start}"),
        (_file(model), shown, shown.replace("facts", "paid()")),
        ("curator/account.py", "if self._spent or self._planned is not None:", "if False:"),
        (
            "curator/account.py",
            "if sum(self._amount(guarded(price)) for price in prices.values()) > self._limit:",
            "if False:",
        ),
    )


MUTANTS = (
    planted(
        "laws that noise does not tell apart at a level are said to be those of another level",
        "results/test_limits.py::test_laws_as_far_apart_as_limits_of_their_noise_are_told_apart",
        ("results/survival_tables.py", "near = critical(level)", "near = critical((1 + level) / 2)"),
    ),
    planted(
        "limits of the share off the law allow for one contrast, and not for three",
        f"{LIMITS}[survreg law]",
        ("results/intervals.py", "critical((2 + level) / 3) * found.se", "critical(level) * found.se"),
    ),
    planted(
        "limits of a log-likelihood and of what follows from it are of another level",
        f"{LIMITS}[survreg llf]",
        ("results/intervals.py", "half = critical(0.95) * sd", "half = critical(0.9) * sd"),
    ),
    planted(
        "the commonest of few values is taken for all that a number may be",
        "models/test_about_middles.py::"
        + "test_of_numbers_of_few_values_it_is_not_the_commonest_alone_that_counts[ols]",
        ("estimators/columns.py", "> MOST * seen.held * counts.n", "> -np.inf"),
    ),
    planted(
        "a level that is not one of some is taken for one of them",
        "formula/test_design.py::test_a_level_against_the_others_is_a_term",
        ("formula/reader.py", "(np.isin(code, codes) == inside)", "np.isin(code, codes)"),
    ),
    planted(
        "effects of others are refused beside a number that enters by steps",
        "results/test_glm_effects.py::test_others_have_effects_beside_what_enters_by_steps",
        ("results/marginal_effects.py", "if left and (asked or len(left) == len(names)):", "if left:"),
    ),
    planted(
        "a charge does not say who made it",
        "ledger/test_charging.py::test_a_charge_says_who_made_it_if_that_was_given",
        ("ledger/ledger.py", 'if self.charged_by else ""', 'if self.path is None else ""'),
    ),
    planted(
        "an error quotes a cell of new data",
        "test_wrong_arguments.py::test_no_message_shows_a_cell_of_new_data",
        (
            "formula/newdata.py",
            "{name} must be {expected",
            "{name} = {frame[name].iloc[row]} must be {expected",
        ),
    ),
    planted(
        "a dict made of a schema loses its unit of privacy and norms",
        "test_schema_unit.py::test_a_change_of_one_declaration_keeps_the_unit_and_the_norms",
        (
            "schema/schema.py",
            "return self._named().keys()",
            "return self._variables.keys()",
        ),
    ),
    planted(
        "a schema with another declaration of a variable protects one row",
        "test_schema_unit.py::test_a_change_of_one_declaration_keeps_the_unit_and_the_norms",
        (
            "schema/schema.py",
            "**changed._variables})._with(self._unit, self._norms)",
            "**changed._variables})",
        ),
    ),
    planted(
        "bounds are suggested from what is not private",
        "models/test_describe.py::test_no_bounds_are_suggested_from_what_is_not_private",
        ("schema/schema.py", "        if described.not_private:\n", "        if False:\n"),
    ),
    planted(
        "noise has the share of the error of a quantile that is that of a cell, too",
        "models/test_describe.py::test_quantiles_of_zeros_are_0_and_no_share_of_no_error_is_noise",
        ("moments/cell_table.py", "counted * noise / variance", "noise / variance"),
    ),
    planted(
        "suggested bounds end where the box of the moments does",
        "models/test_describe.py::test_suggested_bounds_hold_the_sum_of_amounts_with_long_tails",
        ("moments/beyond_box.py", "law.start * law.last(1.0)", "law.start"),
    ),
    planted(
        "a table of private fits and others bears no mark",
        "results/test_compare.py::test_one_fit_without_noise_marks_the_whole_table",
        (
            "results/fit.py",
            "if any(fit.record.not_private for fit in fits)",
            "if fits[0].record.not_private",
        ),
    ),
    planted(
        "lives of a fit whose law does not hold say nothing of it",
        "results/test_touching.py::test_what_rests_on_the_law_says_once_that_it_does_not_hold[life]",
        ("results/document.py", "found = replace(found, cautions=said)", "pass"),
    ),
    planted(
        "a plot of a fit whose law does not hold says nothing of it",
        "results/test_touching.py::test_a_plot_says_it_below_its_axes[plot_reliability]",
        ("results/survival_plots.py", "cautions=said, ", ""),
    ),
    planted(
        "lives of a law in doubt are as sharp as others",
        "results/test_touching.py::test_limits_under_doubt_are_those_by_which_twice_as_many_more_have_failed",
        ("results/survival_quantities.py", "    if not share:\n", "    if True:\n"),
    ),
    planted(
        "early points of a curve are left out of a probability plot",
        "results/test_plots.py::test_a_probability_plot_holds_all_points_of_its_curve",
        (
            "results/survival.py",
            "            ends = plots.holding(points, ends, level)\n",
            "            pass\n",
        ),
    ),
    planted(
        "a budget that is too small to be drawn for is charged",
        CHARGE + "test_a_budget_of_which_no_part_can_be_drawn_is_refused_before_it_is_charged[ols-gram-zcdp]",
        ("curator/account.py", "        if amount < least:\n", "        if False:\n"),
    ),
    planted(
        "a refused model leaves its data in the frames of a traceback",
        "rows/test_protected.py::test_no_frame_keeps_the_data_of_a_model_that_is_refused",
        ("_private.py", "            clear_frames(one.__traceback__)\n", ""),
    ),
    planted(
        "an error keeps data in the frames of one of two that led to it",
        "rows/test_protected.py::test_no_error_that_led_to_another_keeps_what_its_frames_held",
        ("_private.py", "            left += [one.__cause__", "            left = [one.__cause__"),
    ),
    planted(
        "a worker warns of what floats cannot hold, as rows have it",
        "curator/test_engines.py::test_a_worker_says_nothing_of_what_floats_cannot_hold",
        ("curator/partial.py", '            with np.errstate(all="ignore"):\n', "            if True:\n"),
    ),
    planted(
        "an underflow is an error where the caller says so, and the fit that was paid for is lost",
        "privacy/test_every_charge.py::test_what_was_paid_for_is_given_whatever_the_caller_has_numpy_do",
        (
            "_private.py",
            '            with np.errstate(all="ignore"):\n                return',
            "            if True:\n                return",
        ),
    ),
    planted(
        "a fit that is refused leaves data in the frames of a traceback (ols)",
        "test_wrong_arguments.py::test_no_message_shows_a_cell[LinearModel.fit]",
        ("models/linear.py", "@forgetful\nclass LinearModel", "class LinearModel"),
    ),
    planted(
        "the frames of an error that the caller handles are emptied",
        "rows/test_protected.py::test_what_the_caller_handles_is_the_callers",
        ("_private.py", "            _forget(error, before)\n", "            _forget(error, None)\n"),
    ),
    planted(
        "any group of exceptions is a KeyboardInterrupt",
        "rows/test_protected.py::test_a_group_is_what_it_holds",
        (
            "_private.py",
            "    if isinstance(error, BaseExceptionGroup):\n        return tuple(",
            "    if False:\n        return tuple(",
        ),
    ),
    planted(
        "an interrupt that is made with words alone fails in making",
        "rows/test_protected.py::test_an_interrupt_that_needs_its_words_stops_the_program_without_one",
        (
            "_private.py",
            "        return kind.__new__(kind)\n    except Exception:",
            "        return kind.__new__(kind)\n    except OSError:",
        ),
    ),
    planted(
        "what is not complete cannot be shown",
        "test_wrong_arguments.py::test_what_is_not_complete_can_be_shown",
        ("_private.py", "        except Exception:\n", "        except OSError:\n"),
    ),
    planted(
        "a line that is off is taken to move contrasts of hazards by twice as much",
        "estimators/test_hazard_calibration.py::test_a_line_that_is_off_moves_contrasts_by_no_more_than_is_no_news",
        (
            "estimators/location_scale/checks.py",
            "np.abs(within @ (law.weights * mixed)) / 2",
            "np.abs(within @ (law.weights * mixed))",
        ),
    ),
    planted(
        "a few lives that are far too long are not told",
        "estimators/test_hazard_calibration.py::test_a_few_lives_far_too_long_are_told[10000-0.02-budget0]",
        (
            "estimators/location_scale/checks.py",
            "_LATE, _BEYOND = (3.0, 7.0), 2.0",
            "_LATE, _BEYOND = (3.0, 7.0), 1e-9",
        ),
    ),
    planted(
        "a few lives that are far too long have no number of their own",
        "estimators/test_hazard_calibration.py::test_a_few_lives_far_too_long_are_told[20000-0.005-budget2]",
        ("estimators/location_scale/checks.py", "general: int = 3", "general: int = 2"),
    ),
    planted(
        "rows along which a spread is looked for are taken to be as long as they are",
        "estimators/test_hazard_calibration.py::test_of_normal_rows_as_much_is_left_as_is_taken_for_it",
        (
            "estimators/location_scale/checks.py",
            "short = np.minimum(lengths / radius, 1.0)",
            "short = lengths / radius",
        ),
    ),
    planted(
        "a spread that goes with rows is not told under pure epsilon",
        "estimators/test_hazard_calibration.py::test_spreads_that_go_with_a_covariate_are_told_and_slopes_hold",
        (
            "estimators/location_scale/pure.py",
            "law = law if self._along is None else law.beside(self._along)",
            "law = law",
        ),
    ),
    planted(
        "rows without an intercept that were shortened are taken to weigh all (ols)",
        DOUBT + "without_an_intercept_the_mean_weight_of_rows_is_within_its_doubt",
        (GRAM, "kept=mean_weight(k, radius), doubt", "kept=1.0, doubt"),
    ),
    planted(
        "the mean weight of rows without an intercept is taken for certain (ols)",
        DOUBT + "without_an_intercept_the_mean_weight_of_rows_is_within_its_doubt",
        (GRAM, "kept=mean_weight(k, radius), doubt=doubt)", "kept=mean_weight(k, radius), doubt=0.0)"),
    ),
    planted(
        "long rows of large weights are taken to have residuals like all (ols)",
        DOUBT + "the_variance_of_rows_whose_weights_measure_precision_is_within_its_doubt",
        (GRAM, "weight=1 + excess / 2,", "weight=1.0,"),
    ),
    planted(
        "what weights of rows may measure is taken for certain (ols)",
        DOUBT + "the_variance_of_rows_whose_weights_measure_precision_is_within_its_doubt",
        (GRAM, "doubt=max(excess, 0.0) / 2", "doubt=0.0"),
    ),
    planted(
        "a covariance is taken to lose as much by shortening as its variances (ridge)",
        DOUBT + "a_covariance_that_lies_in_long_rows_is_within_its_error",
        (
            "estimators/gram/whole.py",
            "_in_units(scale, moments.released.n, common, error, apart)",
            "_in_units(scale, moments.released.n, common, error, 0 * apart)",
        ),
    ),
    planted(
        "moments of the private table are taken for public ones",
        "models/test_public_apart.py::test_moments_of_the_data_are_refused_as_long_as_these_are_in_memory",
        (
            "models/public.py",
            "public = source() if source else public",
            "public = None if source else public",
        ),
    ),
    planted(
        "what noise hides of a slope is left out of the covariance (functional)",
        "estimators/test_functional.py::test_intervals_hold_the_truth_that_noise_hides",
        (
            "estimators/functional.py",
            "    if line.hidden.any():\n        total",
            "    if False:\n        total",
        ),
    ),
    planted(
        "a sigma that is lost leaves the intercept sure of itself (functional)",
        "estimators/test_functional.py::test_an_intercept_takes_its_share_of_a_sigma_that_is_lost",
        (
            "estimators/functional.py",
            "    if _sigma_lost(line):\n        variance[0, 0]",
            "    if False:\n        variance[0, 0]",
        ),
    ),
    planted(
        "the tilt of a large budget is infinite",
        CHARGE
        + "test_a_budget_of_any_size_is_refused_before_it_is_charged_or_gives_a_fit[svm-objective-zcdp]",
        (
            "curator/tilt.py",
            "log_share = float(special.log_ndtr(-mu / 2) +",
            "log_share = float(np.log(special.ndtr(-mu / 2)) +",
        ),
    ),
    *(unpaid(model, case) for model, case in PAYERS.items() if model not in ("kaplan_meier", "survreg")),
    *(late(model, case) for model, case in PAYERS.items() if model != "survreg"),
    planted(
        "'replace one row' under a unit of several",
        tuple(f"{WHOLE}[{case}]" for case in PAYERS.values()),
        (FACTS, '"adjacency": curator.unit.adjacency', '"adjacency": "replace one row"'),
    ),
    planted(
        "a fit with seeded noise is not marked",
        tuple(f"{WHOLE}[{case}]" for case in PAYERS.values()),
        (FACTS, '"not_private": curator.not_private', '"not_private": False'),
    ),
    planted(
        "half of the cost is charged",
        f"{WHOLE}[svm-output-zcdp]",
        (
            "curator/account.py",
            "            self._budget,\n            formula=formula",
            "            self._budget.split(0.5)[0],\n            formula=formula",
        ),
    ),
    planted(
        "the ledger is not told the unit",
        f"{WHOLE}[kaplan_meier-zcdp]",
        ("curator/account.py", "unit=self._unit,", "unit='one row',"),
    ),
    planted(
        "noise of another measure than was planned",
        "curator/test_account.py::test_what_was_not_planned_is_not_drawn",
        ("curator/account.py", "left = min(left, planned[kind])", "pass"),
    ),
    planted(
        "the ledger is told of one route only (survreg)",
        "models/test_costs.py::test_the_ledger_holds_what_is_drawn_before_it_is[survreg]",
        ("models/survreg.py", "else (ROUTES, LATER)", "else (METHOD, LATER)"),
    ),
    planted(
        "Gaussian noise for a mu that the guard is not proved for",
        "curator/test_guard.py::test_noise_that_is_not_proved_is_refused",
        (
            "curator/curator.py",
            'if law.name == "gaussian" and not (provable or self.not_private):',
            "if False:",
        ),
    ),
    planted(
        "pure noise under zcdp is entered as Gaussian",
        f"{WHOLE}[svm-objective-paper-zcdp]",
        ("curator/account.py", "gaussian=all(isinstance(price, Gdp)", "gaussian=any(isinstance(price, Gdp)"),
    ),
    planted(
        "a measure is worth another's number",
        "curator/test_curator.py",
        (
            "budget/kinds.py",
            "return Fraction(price.to_gdp().mu) ** 2",
            "return Fraction(price.amount / 2) ** 2",
        ),
    ),
    planted(
        "nobs counts the rows that are valid",
        f"{REPLAY}[glm-poisson-newton-zcdp]",
        (FACTS, '"nobs": curator.n,', '"nobs": sum(int(block.ok.sum()) for block in curator._blocks),'),
    ),
    planted(
        "a caution from sums that were not released",
        f"{REPLAY}[glm-poisson-newton-zcdp]",
        (
            "models/glm.py",
            "of_formula(result, design), costs, robust, loglik)",
            "replace(result, problems=['budget'] * any(not block.ok.all() for block in curator._blocks)), "
            "costs, robust, loglik)",
        ),
    ),
    planted(
        "the record keeps rows (svm)",
        f"{TRACE}[svm-objective-pure]",
        (
            "models/svm.py",
            "how, plan.costs",
            "_keeping(how, curator), plan.costs",
        ),
        (
            "models/svm.py",
            "def said(robust",
            "class _Text(str):\n    pass\n\n\ndef _keeping(text: str, curator: Curator) -> str:\n"
            "    kept = _Text(text)\n    kept.rows = curator._rows\n    return kept\n\n\ndef said(robust",
        ),
    ),
    planted(
        "covariance of a GLM without its privacy part",
        "privacy/test_every_error.py::test_the_privacy_part_is_the_spread_of_fits[glm-poisson-newton-gdp]",
        ("estimators/newton/estimate.py", "cov = sampling + privacy\n", "cov = sampling + 0 * privacy\n"),
    ),
    planted(
        "privacy part of a GLM for one step of many",
        "privacy/test_every_error.py::test_the_privacy_part_is_the_spread_of_fits[glm-poisson-newton-zcdp]",
        ("estimators/engine/average.py", "rms**2 / count, ", "rms**2 / count**3, "),
    ),
    planted(
        "steps that have not arrived count as if they had (glm)",
        f"{SECOND_ORDER}a_step_that_has_not_arrived_counts_as_error_and_a_long_one_says_so",
        ("estimators/engine/average.py", "* spread + (drift or long) * np.outer(step, step)", "* spread"),
    ),
    planted(
        "scatter beyond the noise widens nothing (glm)",
        f"{SECOND_ORDER}scores_that_scatter_beyond_their_noise_widen_intervals_and_say_so",
        (
            "estimators/engine/average.py",
            "privacy * spread + (drift",
            "privacy + (drift",
        ),
    ),
    planted(
        "what nothing bounds has an interval (glm)",
        f"{ALONE}only_what_nothing_bounds_is_lost",
        ("estimators/engine/finish.py", "(_HIDDEN, _UNBOUNDED)", "(_HIDDEN, 1e99)"),
    ),
    planted(
        "one hidden direction in all slopes takes all of them (glm, coxph)",
        f"{ALONE}one_direction_that_noise_hides_in_every_slope_takes_none_with_it",
        ("estimators/engine/finish.py", "np.linalg.eigvalsh(slopes)", "np.diag(slopes)"),
    ),
    planted(
        "steps tell of a line that may be anywhere (coxph)",
        "estimators/test_levels_alone.py::test_what_is_told_beside_a_line_has_none_of_it",
        ("estimators/engine/finish.py", "ways @ np.linalg.pinv(rows.T @ ways) @ rows.T", "0 * ways @ rows.T"),
    ),
    planted(
        "a line that may be anywhere is known (linear)",
        "models/test_rare_reference.py::test_a_penalty_and_terms_left_out_take_nothing_of_a_line_that_may_be_anywhere",
        (
            "moments/linear.py",
            "judged(params, sampling, privacy + open_ended",
            "judged(params, sampling, privacy",
        ),
    ),
    planted(
        "a fit of noise alone has intervals (glm)",
        f"{ALONE}nothing_is_told_where_noise_hides_every_slope",
        ("estimators/engine/finish.py", "        lost |= hidden\n", "        pass\n"),
    ),
    planted(
        "what a level without events may be ends where noise does (glm)",
        "models/test_glm.py::test_an_interval_of_a_level_without_events_has_no_end_that_matters",
        ("estimators/level_scores.py", "(END / Z95) ** 2", "0.0"),
    ),
    planted(
        "a reference level always has events, and others (glm)",
        f"{ALONE}a_reference_level_that_always_says_the_same_leaves_intercept_and_contrasts_open",
        (LEVELS, "[axes[0] - axes[own].sum(axis=0), *axes[own]]", "axes[own]"),
    ),
    planted(
        "steps run on with a reference level that noise hides (glm)",
        f"{ALONE}a_level_that_steps_ran_away_with_lies_within_reach_of_the_others",
        (LEVELS, "- apart) * direction", "- apart) * np.maximum(direction, 0.0)"),
    ),
    planted(
        "a level has the error of a step that ran away (glm)",
        f"{ALONE}a_level_that_steps_ran_away_with_lies_within_reach_of_the_others",
        (LEVELS, "gone.append((direction, row))", "gone += []"),
    ),
    planted(
        "intervals of effects that noise leaves any size end where Newton steps do",
        (
            f"{HELD}logit-budget0]",
            f"{HELD}probit-budget1]",
            f"{HELD}cloglog-budget2]",
            f"{HELD}logit-budget3]",
        ),
        (RAY, "return added, times >= most or", "return 0 * added, times >= most or"),
    ),
    planted(
        "scores tell multiples apart by an information that is taken for exact",
        f"{HELD}probit-budget1]",
        (RAY, " + (self.vague * said) ** 2", ""),
    ),
    planted(
        "all multiples are asked of ordinary lines whose predictors reach far",
        "estimators/test_ray.py::test_only_of_a_line_that_leaves_little_of_the_log_likelihood_all_multiples_are_asked",
        (RAY, "left.share - left.sd > NEARLY_TOLD", "False"),
    ),
    planted(
        "rows that are predicted with certainty have scores that scatter",
        "estimators/test_ray.py::test_sampling_alone_leaves_no_multiple_open",
        (RAY, " * scatter / scatter[0]", ""),
    ),
    planted(
        "scores are taken to be read at the estimate, where they were read on the way to it",
        "estimators/test_ray.py::test_points_that_have_not_arrived_leave_less_that_scores_can_say",
        (RAY, "(self.points, times)", "(self.points**0, times)"),
    ),
    planted(
        "a covariate that tells the response is not named (logit)",
        "models/test_glm.py::test_a_share_of_rows_that_contradict_decides_what_is_separated_under_any_link",
        ("estimators/newton/check.py", "_CONTRADICT * math", "0.0 * math"),
    ),
    planted(
        "a column of unknown spread has a coefficient of the usual size (glm)",
        f"{SECOND_ORDER}nothing_bounds_the_coefficient_of_a_column_of_unknown_spread",
        ("estimators/engine/information.py", "(hidden & vague) * ANY", "(hidden & vague)"),
    ),
    planted(
        "what noise makes of a column of unknown spread is taken for its spread (glm)",
        "estimators/test_engine.py::test_a_column_of_unknown_spread_is_seen_by_more_than_noise_makes_in_octaves",
        ("estimators/engine/information.py", "SURELY * self.sds", "2.85 * self.sds"),
    ),
    planted(
        "a bend is not told (glm)",
        "models/test_bends.py::test_a_curved_response_is_seen",
        ("estimators/newton/check.py", "(BENDS,) * bend.told", "()"),
    ),
    planted(
        "an offset is a part of a line that may bend (linear)",
        "models/test_bends.py::test_an_offset_that_has_nothing_to_do_with_the_response_is_no_bend",
        ("estimators/gram/estimate.py", "None,  # a line of the response less its offset", "0.0,"),
    ),
    planted(
        "a bend moves a line by as much as the square itself (linear)",
        "models/test_bends.py::test_of_a_line_that_bends_where_few_rows_count_less_intervals_are_little_longer",
        ("estimators/gram/estimate.py", "MOVED * min(_STEEP * share, 1.0)", "MOVED"),
    ),
    planted(
        "rows of a rare reference level are weighted away (linear)",
        "models/test_linear_levels.py::test_a_rare_reference_level_is_no_worse_than_any_other",
        ("estimators/row_scale.py", "own), rows, longest)", "scale), rows[:0], longest[:0])"),
    ),
    planted(
        "failures that are not seen tell of effects that change (hazards)",
        "models/test_coxph.py::test_what_failures_tell_of_a_change_is_that_of_rows_that_are_drawn",
        ("estimators/hazards/failing.py", " * (spent <= c)", ""),
    ),
    planted(
        "a check of hazards takes the clock for known",
        "models/test_coxph.py::test_a_change_along_the_line_counts_what_moves_its_scores",
        ("estimators/hazards/checks.py", " + clock**2)", ")"),
    ),
    planted(
        "hazards of the next cell begin where that begins",
        "models/test_coxph.py::test_a_higher_hazard_of_the_next_cell_may_begin_before_it",
        ("moments/baseline.py", "here * (reaching - own)", "0 * here"),
    ),
    planted(
        "late failures are left out as if effects never changed (hazards)",
        "models/test_coxph.py::test_coefficients_are_those_of_cox_where_the_spread_of_lives_goes_with_age",
        ("estimators/hazards/bounds.py", "_CHANGED, _FADED = 0.2, 1.0", "_CHANGED, _FADED = 0.0, 0.0"),
    ),
    planted(
        "a choice of how long rows are observed forgets the pieces that it leaves (hazards)",
        "models/test_coxph.py::test_rows_are_observed_for_no_longer_than_leaves_the_baseline_its_pieces",
        ("estimators/hazards/bounds.py", "missed * new.coarseness, ", ""),
    ),
    planted(
        "a choice of how long rows are observed takes the clock for known (hazards)",
        "models/test_coxph.py::test_rows_are_observed_for_no_longer_than_the_clock_is_known",
        ("estimators/hazards/bounds.py", ", new.unknown(moved), new.clock_error(moved)", ""),
    ),
    planted(
        "columns of levels are taken for independent (hazards)",
        "models/test_coxph.py::test_columns_of_levels_are_not_taken_for_independent",
        ("estimators/hazards/iterate.py", "expected = _expected(self.scale)", "expected = np.eye(problem.d)"),
    ),
    planted(
        "effects that cancel along a hidden direction are taken for none (generalised linear)",
        "estimators/test_hidden.py::test_of_two_columns_that_repeat_each_other_nothing_is_taken_for_known",
        ("estimators/newton/hidden.py", "(seen**2 + ROUNDING**2 + others @ squares) / own", "seen**2"),
    ),
    planted(
        "a reference level has no effect of its own (generalised linear)",
        "estimators/test_hidden.py::test_the_effect_of_a_reference_level_is_one_effect",
        ("estimators/newton/hidden.py", "return np.vstack(matrix)", "return matrix[0]"),
    ),
    planted(
        "columns of levels are taken for independent (generalised linear)",
        "estimators/test_public_information.py::test_many_levels_and_a_number_are_told",
        (
            "estimators/newton/iterate.py",
            "level_moments(problem, located),",
            "np.eye(problem.k),",
        ),
    ),
    planted(
        "columns of levels are taken for independent (logistic, pure epsilon)",
        "estimators/test_public_information.py::test_pure_epsilon_tells_a_reference_among_many_levels",
        (UNIT_BALL, "(level_moments(problem, located), ", "(np.eye(problem.k), "),
    ),
    planted(
        "noise of products is that before what is public (logistic, pure epsilon)",
        "estimators/test_public_information.py::test_noise_that_is_left_of_a_product_has_the_covariance_that_is_said",
        (
            "estimators/newton/information.py",
            "Left(self.structure, whitening @ self.way)",
            "Left(self.structure, np.eye(len(whitening)))",
        ),
    ),
    planted(
        "what one level lacks is an error of all others (generalised linear)",
        "estimators/test_public_information.py::test_what_a_level_lacks_is_no_error_of_others",
        ("estimators/newton/information.py", "sds), of_product=of_product)", "sds), of_product=None)"),
    ),
    planted(
        "noise of the point does not make up events of a level (logistic, pure epsilon)",
        "estimators/test_public_information.py::test_rows_of_a_level_may_all_say_the_same_where_noise_may_make_up_their_events",
        (
            "estimators/newton/level_coefficients.py",
            "math.hypot(error, found * math.sqrt(max(sd**2 - sampling**2, 0.0)))",
            "error",
        ),
    ),
    planted(
        "numbers that hold one value in most rows are stretched by what their shortened rows tell (linear)",
        "models/test_mostly_one_value.py::test_their_slopes_are_held_by_intervals_that_are_not_much_longer_than_by_sampling",
        (
            "estimators/columns.py",
            "np.sqrt(np.sum(few * places**2, axis=1)",
            "np.sqrt(np.sum(0.0 * few, axis=1)",
        ),
    ),
    planted(
        "rows of a rare reference level grow until they do not count (generalised linear)",
        "estimators/test_public_information.py::test_rows_of_a_rare_reference_become_no_longer_than_its_scale_lets_them",
        (
            "estimators/newton/level_coefficients.py",
            "np.append(np.maximum(located.least, few**2), located.references)",
            "np.append(np.maximum(located.least, few**2), [0.0] * len(located.references))",
        ),
    ),
    planted(
        "slopes in rows of a rare reference grow until these do not count (generalised linear)",
        "estimators/test_public_information.py::test_a_rare_level_is_told_as_well_where_it_is_the_reference",
        (
            "estimators/newton/level_coefficients.py",
            "* LENGTHS[0] * problem.k) - alone)",
            "* LENGTHS[0] * problem.k) - 1)",
        ),
    ),
    planted(
        "rare levels that are not stretched stand for rows of the reference level (generalised linear)",
        "estimators/test_public_information.py::test_rare_levels_leave_rows_of_a_reference_as_long_as_others",
        (
            "estimators/newton/level_coefficients.py",
            "(np.eye(len(own)) - shares) / located.scale[own]",
            "np.eye(len(own))",
        ),
    ),
    planted(
        "effects of levels that cancel each other have no size (generalised linear)",
        "estimators/test_hidden.py::test_columns_that_cancel_each_other_have_effects_as_large_as_the_information_allows",
        ("estimators/newton/hidden.py", "together(alone[~coded], ", "together(alone, "),
    ),
    planted(
        "what a number that a penalty finds shows is lost as without the penalty",
        "models/test_linear_noisy.py::test_a_penalty_under_which_a_pair_is_known_knows_what_goes_along_with_it",
        (
            "moments/linear.py",
            "moments = self._blind_beside(partners, found)",
            "moments = self.beside(partners)",
        ),
    ),
    planted(
        "columns of a spline are lost where all go along beside its ends (generalised linear)",
        "models/test_loose_bounds.py::test_a_spline_tells_its_curve_where_rows_are_though_its_ends_are_empty"
        "[poisson-bs(x, df=4)]",
        ("estimators/newton/problem.py", "self.zero_or_one | self.splines", "self.zero_or_one"),
    ),
    planted(
        "the height of a spline has a usual size where no row is (generalised linear)",
        "models/test_loose_bounds.py::test_heights_where_no_rows_are_may_be_any_and_means_elsewhere_are_told[poisson]",
        ("estimators/newton/hidden.py", "variance = (1 - end.seen[0])", "variance = 0 * (1 - end.seen[0])"),
    ),
    planted(
        "a dose is told from the treatment by the size of usual effects (generalised linear)",
        "estimators/test_hidden.py::test_columns_that_cancel_each_other_have_effects_as_large_as_the_information_allows",
        ("estimators/newton/hidden.py", "larger = (large &", "larger = 0 * (large &"),
    ),
    planted(
        "what may be chance on both sides of a number widens no slope (logit)",
        "estimators/test_both_sides.py::"
        "test_rows_with_a_covariate_that_says_nothing_leave_no_confident_slope[3]",
        ("estimators/newton/both_sides.py", "else _EVENS", "else 1e-9"),
    ),
    planted(
        "rows far out are looked for where bounds leave no room (logit)",
        "estimators/test_both_sides.py::"
        "test_a_step_that_may_be_chance_is_heard_of_a_column_with_far_rows_alone",
        ("estimators/newton/both_sides.py", "min(ends) < _ROOM * root", "min(ends) < 0"),
    ),
    planted(
        "a slope at a level in whose rows its number is alike has a usual size (generalised linear)",
        "estimators/test_alike.py::"
        "test_a_slope_at_a_site_whose_rows_are_alike_is_lost_and_not_one_of_usual_size[binomial-d]",
        ("estimators/alike.py", "surely < _ALIKE * square", "surely < 0.0"),
    ),
    planted(
        "a reference level in whose rows a number is alike is asked at the wrong middle (generalised linear)",
        "estimators/test_alike.py::"
        "test_a_slope_at_a_site_whose_rows_are_alike_is_lost_and_not_one_of_usual_size[poisson-a]",
        ("estimators/alike.py", "if own[1, 0]:", "if False:"),
    ),
    planted(
        "any slope at a rare level is lost (generalised linear)",
        "estimators/test_alike.py::test_a_slope_at_a_rare_site_is_told_where_its_rows_vary",
        ("estimators/alike.py", "if (hardly and left < SURELY * unsure) or", "if square > SURELY * error or"),
    ),
    planted(
        "what is left beside a line that noise hides is taken for how a number varies at a level",
        "estimators/test_alike.py::"
        "test_a_slope_is_told_where_its_level_and_the_number_there_are_seen[0.5-10.0-1]",
        ("estimators/alike.py", "or rows < SEEN * doubt:", "or rows < -math.inf:"),
    ),
    planted(
        "a slope at a level that noise hides has a usual size",
        "estimators/test_alike.py::test_a_slope_is_told_where_its_level_and_the_number_there_are_seen[40.0-1.0-1]",
        ("estimators/alike.py", "else surely == 0.0", "else False"),
    ),
    planted(
        "a reference level has no slope of its own",
        "estimators/test_alike.py::test_slopes_against_those_of_a_reference_that_noise_hides_are_lost[coxph]",
        ("formula/layout.py", "if len(here) == len(span):", "if False:"),
    ),
    planted(
        "the effect of a level is that where what goes along with it stays (generalised linear)",
        "estimators/test_hidden.py::test_a_level_has_rows_with_what_goes_along_with_it",
        (
            "estimators/newton/level_coefficients.py",
            "told, mean = moments @ tells,",
            "told, mean = moments[0],",
        ),
    ),
    planted(
        "rows without a flag gain whatever those with it lose (generalised linear)",
        f"{ALONE}rows_without_a_flag_gain_no_more_events_than_rows_with_it_had[0.8-True]",
        (
            LEVELS,
            "halved(lambda intercept: np.array([1 - share, share]) @ of_rows(intercept) < 0, *start)",
            "-share * SHIFTS",
        ),
    ),
    planted(
        "the open end of a flag is always that of rows with it (generalised linear)",
        f"{ALONE}where_rows_without_a_flag_always_say_the_same_their_line_is_open_and_the_other_is_not[poisson-0]",
        (LEVELS, "direction - round(share) * ", "direction - 0 * "),
    ),
    planted(
        "noise that breaks what is public is all taken for gone (generalised linear)",
        "estimators/test_public_information.py::test_noise_has_the_sd_that_is_said",
        ("estimators/newton/information.py", "sds * np.sqrt(left.along(", "0.7 * sds * np.sqrt(left.along("),
    ),
    planted(
        "what is public of levels is not used (linear)",
        "estimators/test_gram_levels.py::test_released_moments_lose_the_noise_that_breaks_what_is_public",
        ("estimators/gram/coordinates.py", "return Structure.of(self.scale.alike)", "return None"),
    ),
    planted(
        "a penalty takes shares of levels as each is told by itself",
        "models/test_linear_levels.py::test_a_penalty_pulls_many_levels_as_far_as_it_does_without_privacy",
        ("estimators/gram/whole.py", "np.where(together, 1.0, stretch)", "stretch"),
    ),
    planted(
        "a penalty takes the variance of a rare flag from shortened rows",
        f"{HONEST}a_penalty_rests_on_how_many_of_all_rows_have_a_rare_value",
        (
            "estimators/gram/whole.py",
            "np.where(together, 1.0, stretch)",
            "np.where(scale.binary, 1.0, stretch)",
        ),
    ),
    planted(
        "what shortened rows lost of a rare level is no error of its variance (ridge)",
        f"{HONEST}a_penalty_rests_on_how_many_of_all_rows_have_a_rare_value",
        ("estimators/gram/whole.py", "np.where(together, np.log(stretch), 0.0)", "0.0 * stretch"),
    ),
    planted(
        "a product of two levels is taken for a number of its own",
        "formula/test_identities.py::test_products_that_are_alike_are_the_same_in_every_row",
        ("formula/layout.py", "(one > 0) & (other > 0) & (one != other)", "False & (one != other)"),
    ),
    planted(
        "shares of levels stay what they were expected to be (linear)",
        "estimators/test_gram_levels.py::test_shares_of_levels_are_those_that_a_release_tells",
        (
            "estimators/known/level_shares.py",
            "expected + rows * more @ rows.T",
            "expected + 0 * rows @ rows.T",
        ),
    ),
    planted(
        "all effects are of one size (linear)",
        "estimators/test_posterior.py::test_one_effect_far_larger_than_the_others_is_held",
        ("moments/posterior.py", "[1.0, 16.0, 256.0]", "[1.0, 1.0, 1.0]"),
    ),
    planted(
        "all that octaves tell of a square is lost by rows that weigh less",
        "models/test_bends.py::test_a_curved_yes_or_no_whose_rows_all_count_is_no_news",
        ("estimators/newton/check.py", "BY_OCTAVES = 7 / 3", "BY_OCTAVES = 0.0"),
    ),
    planted(
        "what a skewed column loses of its spread is nothing (glm)",
        "models/test_bends.py::test_a_logarithm_of_a_column_of_a_very_far_tail_is_seen",
        ("estimators/newton/check.py", "FAR * line.unheard * bool", "FAR * line.lost * bool"),
    ),
    planted(
        "of amounts a sixteenth of the weight is lost at least (glm)",
        "models/test_bends.py::test_curved_amounts_whose_rows_nearly_all_count_are_no_news",
        (
            "estimators/newton/iterate.py",
            "problem.family.unlimited and not problem.family.free_dispersion)",
            "problem.family.unlimited)",
        ),
    ),
    planted(
        "where no row is long all count alike (glm)",
        "models/test_bends.py::test_a_bend_counts_where_no_row_is_long_and_those_of_large_means_count_less",
        ("estimators/newton/iterate.py", "(even and not self.lost)", "(not self.lost)"),
    ),
    planted(
        "a bend that is hardly seen widens nothing (glm)",
        "models/test_bends.py::test_a_bend_widens_intervals_the_more_the_larger_it_is",
        ("estimators/newton/check.py", "found.doubted(bend.square *", "found.doubted(0 * bend.square *"),
    ),
    planted(
        "what a look does not exclude is not counted (glm)",
        "models/test_bends.py::test_an_effect_of_few_rows_that_levels_off_is_not_silent",
        ("estimators/newton/far.py", "np.minimum(back_to_0, effects)", "np.minimum(0 * back_to_0, effects)"),
    ),
    planted(
        "how far out rows are that draw an effect to 0 is thought to be known (glm)",
        (
            "models/test_bends.py::test_an_effect_that_ends_where_few_rows_lie_far_beyond_is_not_silent",
            "models/test_bends.py::test_a_step_of_which_noise_hides_most_is_not_silent",
        ),
        ("estimators/newton/far.py", "np.any(toward > usual, axis=0)", "np.any(toward < 0, axis=0)"),
    ),
    planted(
        "far rows are thought to move a line by as many steps whatever they lack of a limit (glm)",
        "models/test_bends.py::test_amounts_whose_mean_falls_to_a_floor_are_not_silent",
        ("estimators/newton/far.py", "np.maximum(whole, 1 / score.weight(far))", "0 * np.maximum(whole, 1)"),
    ),
    planted(
        "counts that follow their law are thought to leave the line where noise hides it (glm)",
        "models/test_bends.py::test_counts_that_scatter_as_their_law_says_are_taken_to_follow_the_line",
        ("estimators/newton/far.py", "or read.phi > 1 + SURE * read.phi_sd", "or True"),
    ),
    planted(
        "the error of a line is thought to move long rows by no more than it does others (glm)",
        "models/test_bends.py::test_noise_of_a_line_that_long_rows_alone_tell_is_no_bend[700]",
        ("estimators/newton/far.py", "np.sqrt(privacy) * moved * held", "0.1 * np.sqrt(privacy) * held"),
    ),
    planted(
        "rows of large means are not missed where a link stalls (glm)",
        "curator/test_glm_statistics.py::test_rows_have_lost_what_weights_of_their_means_take_too",
        ("curator/statistics/glm.py", "if self._bounded.family.stalls or", "if"),
    ),
    planted(
        "a product that a formula leaves out is thought to move the line along the predictor alone (glm)",
        "estimators/test_bends_of_products.py::test_a_product_moves_each_number_as_far_as_the_other_acts",
        ("estimators/newton/check.py", "+= (each.sum()", "+= 0 * (each.sum()"),
    ),
    planted(
        "a level is thought to rise as if slopes went all of the way to 0 (glm)",
        "estimators/test_bends_of_products.py::test_a_level_rises_by_what_it_does_where_slopes_are_half_as_steep",
        ("estimators/newton/far.py", "ends[1:] ** 2) / 8", "ends[1:] ** 2) / 4"),
    ),
    planted(
        "the move of an estimate to the middle of what is open is thought to be no error (glm)",
        "estimators/test_bends_of_products.py::test_a_level_rises_by_what_it_does_where_slopes_are_half_as_steep",
        ("estimators/newton/far.py", "(forth * (moved / Z95) ** 2)", "(0 * forth)"),
    ),
    planted(
        "half of a square is thought to be along the line where it takes two values (glm)",
        "estimators/test_bends_of_products.py::test_half_of_a_centred_square_is_a_line_but_of_two_values_all",
        ("estimators/bends.py", "1e-300)) / 2", "1e-300)) / 1"),
    ),
    planted(
        "errors of the line are thought to move sums against a centred square in full (glm)",
        "estimators/test_bends_of_products.py::test_an_error_of_the_line_hides_less_of_a_bend_along_numbers",
        ("estimators/bends.py", "line.held * max(both)", "max(both)"),
    ),
    planted(
        "long rows of a skewed column are heard no better than others (glm)",
        "models/test_bends.py::test_long_rows_of_a_skewed_column_are_heard_for_what_others_save[30-poisson]",
        ("estimators/newton/iterate.py", "plan = hearing_more(plan, problem.family.two_valued)", "pass"),
    ),
    planted(
        "log odds that long rows draw to 0 stay where others have them (logit)",
        "models/test_bends.py::test_where_long_rows_draw_a_log_odds_ratio_to_0_it_lies_about_as_far_as_they_say",
        ("estimators/newton/far.py", "np.where(levels, _nearer_to_0(", "np.where(levels, 0 * _nearer_to_0("),
    ),
    planted(
        "an effect that long rows draw to 0 stays where others have it (glm)",
        "models/test_bends.py::"
        "test_where_long_rows_draw_an_effect_to_0_an_estimate_lies_between_their_line_and_0",
        ("estimators/newton/far.py", "-np.sign(line) * ends / 2", "0 * line"),
    ),
    planted(
        "of an effect that ends no more is excluded than what long rows surely say (glm)",
        "models/test_bends.py::test_two_half_lengths_of_a_dose_whose_effect_ends_reach_where_long_rows_say_that_it_does",
        (
            "estimators/newton/far.py",
            "& problem.family.unlimited | unheard",
            "& False | unheard",
        ),
    ),
    planted(
        "rows that the line foretells are thought to hold all that may move it (glm)",
        "models/test_bends.py::test_where_the_line_foretells_far_rows_the_few_that_contradict_may_move_it",
        ("estimators/newton/far.py", "contradict.min() < 1", "False"),
    ),
    planted(
        "all rows of which a line has heard little are thought to be foretold (glm)",
        "models/test_bends.py::test_a_rare_answer_that_far_rows_may_give_is_not_foretold",
        ("estimators/newton/far.py", "contradict.min() < 1", "True"),
    ),
    planted(
        "a line is thought to have heard little of any column (glm)",
        "models/test_bends.py::test_far_rows_of_a_column_of_which_the_line_has_heard_are_not_foretold",
        ("estimators/newton/far.py", "> BY_OCTAVES * heard[j]", "> 0.0"),
    ),
    planted(
        "far rows of numbers that hold one value in most rows are thought to be as many as of others",
        "models/test_bends.py::test_an_effect_of_few_rows_that_levels_off_is_not_silent",
        ("estimators/newton/far.py", "0.25, 4.0, 8.0", "0.25, 4.0, 4.0"),
    ),
    planted(
        "amounts far beyond the limit are not told (glm)",
        "models/test_far.py::test_a_few_amounts_of_many_times_the_mean_are_told",
        ("estimators/newton/beyond_limit.py", "(FAR_RESPONSES if lawful else TAIL,) * told", "()"),
    ),
    planted(
        "codes among counts are not looked for (glm)",
        "models/test_far.py::test_codes_among_counts_are_told",
        (
            "estimators/newton/beyond_limit.py",
            "if not cost or score is None",
            "if score.family.counts or score is None",
        ),
    ),
    planted(
        "amounts far beyond the limit widen nothing (glm)",
        "models/test_far.py::test_what_is_given_back_of_a_tail",
        (
            "estimators/newton/beyond_limit.py",
            "+ (trust * more * added) ** 2",
            "+ 0 * (trust * more * added) ** 2",
        ),
    ),
    planted(
        "amounts beyond the limit are given back to no intercept (glm)",
        "models/test_far.py::test_amounts_of_a_log_normal_law_have_the_mean_of_all",
        ("estimators/newton/beyond_limit.py", "moved = trust * (1 + more)", "moved = 0 * trust * (1 + more)"),
    ),
    planted(
        "counts of large means scatter as those of small ones at most (glm)",
        "estimators/test_dispersion.py::test_counts_that_are_mostly_none_or_scatter_about_large_means_carry_none_where_little_is_clipped",
        ("estimators/newton/dispersion.py", "max(_MOST, 1 + ALPHAS[-1] * mean)", "_MOST"),
    ),
    planted(
        "slopes do not count what clipping may take of counts (glm)",
        "estimators/test_dispersion.py::test_slopes_count_what_clipping_may_take_of_counts_whose_scatter_is_not_known_well",
        ("estimators/newton/beyond_limit.py", "slopes = counts * (", "slopes = 0 * ("),
    ),
    planted(
        "counts whose scatter no law explains have no tail (glm)",
        "estimators/test_dispersion.py::test_counts_beyond_any_negative_binomial_law_carry_a_caution",
        ("estimators/newton/beyond_limit.py", "and (lawful or counts)", "and lawful"),
    ),
    planted(
        "an alpha that is sought stays where it began (glm)",
        "families/test_negative_binomial.py::test_scatter_tells_the_alpha",
        (
            "families/glm.py",
            "alpha + (dispersion - 1) / curvature",
            "alpha + 0 * (dispersion - 1) / curvature",
        ),
    ),
    planted(
        "counts are clipped as if their scores lost no weight with the mean (glm)",
        "families/test_negative_binomial.py::test_clipped_scores_have_the_moments_of_the_law",
        ("families/glm.py", "limit * fall(eta)", "limit"),
    ),
    planted(
        "squares of clipped counts forget what clipping takes of their mean (glm)",
        "families/test_negative_binomial.py::test_squares_of_bounded_scores_are_those_of_the_law",
        ("families/glm.py", "- edge * (most + 1 - (1 - alpha) * mean)", ""),
    ),
    planted(
        "what clipping takes is put back by a Poisson law (glm)",
        "families/test_negative_binomial.py::test_bounded_scores_have_mean_zero_and_keep_their_limits",
        ("families/glm.py", "max(alpha + more, 0.0)) / fall(eta)", "0.0) / fall(eta)"),
    ),
    planted(
        "amounts that are mostly 0 are expected to scatter as others (glm)",
        "models/test_glm.py::test_intervals_of_amounts_that_are_mostly_zero_hold",
        (
            "estimators/newton/bounds.py",
            "return max(located.sd**2 / float(family.variance(np.array(located.mean))), LEAST_DISPERSED)",
            "return float(np.clip(located.sd**2 / family.variance(np.array(located.mean)), 0.05, MOST_DISPERSED))",
        ),
    ),
    planted(
        "amounts differ by a fifth at least (glm)",
        "models/test_glm.py::test_intervals_of_amounts_that_differ_by_little_are_as_short_as_these_differ",
        (
            "estimators/newton/bounds.py",
            "LEAST_DISPERSED, MOST_DISPERSED = 1e-10",
            "LEAST_DISPERSED, MOST_DISPERSED = 0.05",
        ),
    ),
    planted(
        "scores of amounts vary by a twentieth at least (glm)",
        "models/test_glm.py::test_intervals_of_amounts_that_differ_by_little_are_as_short_as_these_differ",
        ("estimators/newton/estimate.py", "phi = max(dispersion(", "phi = max(0.05, *dispersion("),
    ),
    planted(
        "counts beyond the declared end are in doubt (glm)",
        "models/test_glm.py::test_counts_of_which_none_is_beyond_the_limit_are_in_no_doubt_by_clipping",
        (
            "families/bounded_score.py",
            "if math.isfinite(self.top):",
            "if dispersion is None and math.isfinite(self.top):",
        ),
    ),
    planted(
        "amounts that are farther off than noise lets see are thought to lie where the box ends (glm)",
        "models/test_glm.py::test_amounts_that_few_rows_have_are_not_clipped_where_noise_hides_how_far_beyond_0_they_lie",
        ("estimators/newton/located.py", "sd = max(sd, mean * _beyond", "sd = max(sd, 0 * mean * _beyond"),
    ),
    planted(
        "scores of amounts that are mostly 0 are limited by the root of phi (glm)",
        "models/test_glm.py::test_intervals_of_amounts_that_are_mostly_zero_hold",
        ("estimators/newton/bounds.py", "max(dispersion / MOST_DISPERSED, 1.0)", "1.0"),
    ),
    planted(
        "amounts are expected to scatter as counts do, whatever their unit (glm)",
        "models/test_glm_metamorphic.py::test_the_unit_of_amounts_does_not_decide_whether_a_poisson_fit_holds",
        (
            "estimators/newton/bounds.py",
            "max(1.0, _SCATTER * self._of_responses) if family.steepens else 1.0",
            "1.0",
        ),
    ),
    planted(
        "squares far from the root tell how counts scatter (glm)",
        "models/test_glm.py::test_standard_errors_of_poisson_counts_of_any_size_fall_with_the_budget[False]",
        ("estimators/newton/iterate.py", "self.dispersion, self.arrived)", "self.dispersion)"),
    ),
    planted(
        "rows weigh by an alpha that no release told (glm)",
        "families/test_negative_binomial.py::test_alpha_errs_as_much_as_it_says",
        (
            "estimators/newton/bounds.py",
            "family.seek(dispersion, level / usable)",
            "family.seek(50.0, level / usable)",
        ),
    ),
    planted(
        "tails of residuals are not told (linear, pure)",
        "models/test_linear_honest.py::test_under_pure_epsilon_an_intercept_is_held_where_errors_are_skewed",
        ("estimators/gram/pure.py", "_with_kurtosis(moments, before, bounds, pilot)", "moments"),
    ),
    planted(
        "nobody looks for a bend (logit, pure)",
        "models/test_bends.py::test_a_bend_widens_intervals_the_more_the_larger_it_is[pure]",
        (
            DEBIASED,
            '        checked(plan.cost("check"), problem, located, read, found),\n',
            "",
        ),
    ),
    planted(
        "steps that can only lie on one side are told from chance on both (glm)",
        "models/test_bends.py::test_steps_that_can_only_lie_on_one_side_are_told_from_chance_by_that_side",
        ("estimators/newton/far.py", "for sides in (2, 1))", "for sides in (2, 2))"),
    ),
    planted(
        "noise of pure epsilon is taken for normal where bends are looked for",
        "models/test_bends.py::test_chance_exceeds_no_more_than_it_is_said_to",
        ("estimators/bends.py", "if law not in LAWS:", "if True:"),
    ),
    planted(
        "columns that fill their box pay for octaves, which say no more",
        "estimators/test_columns.py::test_only_columns_that_fill_little_of_their_box_are_looked_at_twice",
        (
            "estimators/zoom.py",
            "return np.asarray(most > np.minimum(_total(counts), counts.n) / 2)",
            "return most > -1.0",
        ),
    ),
    planted(
        "columns that lie close together are taken to fill their box",
        "estimators/test_columns.py::test_wherever_the_bounds_lie_the_scale_is_that_of_the_rows",
        (
            "estimators/zoom.py",
            "return np.asarray(most > np.minimum(_total(counts), counts.n) / 2)",
            "return most < -1.0",
        ),
    ),
    planted(
        "what seems alike from far away is not looked at again from near by",
        "estimators/test_columns.py::test_rows_in_less_than_the_noise_of_their_mean_are_told_from_codes",
        ("estimators/zoom.py", "if not alike[:-1].any():", "if True:"),
    ),
    planted(
        "octaves that noise hides one by one are not looked at together",
        "estimators/test_columns.py::test_amounts_that_many_octaves_hide_are_found_by_those_side_by_side",
        ("estimators/columns.py", "lost=lost, together=True)", "lost=lost)"),
    ),
    planted(
        "sums of Laplace noise are taken for sums of fewer cells",
        "estimators/test_columns.py::test_chances_of_sums_of_noise_are_exact",
        (
            "estimators/zoom.py",
            "special.nbdtr(width - 1 - place, width, 0.5)",
            "special.nbdtr(width - 1 - place, width, 1.0)",
        ),
    ),
    planted(
        "rows at an end of their box lie in cells of no width, about which no mean is taken",
        "estimators/test_columns.py::test_a_response_at_an_end_of_its_box_has_its_mean_there",
        (
            "estimators/zoom.py",
            "half = np.maximum((upper - lower) / 2, 2.0**-_OCTAVES)\n    return middle",
            "half = (upper - lower) / 2\n    return middle",
        ),
    ),
    planted(
        "times that one wide cell holds are taken for one time",
        "models/test_other_unit.py::test_times_that_spread_as_usual_are_not_taken_for_one",
        ("estimators/zoom.py", "alike & narrow & (rest < seen),", "alike,"),
    ),
    planted(
        "codes that are clipped to the end of where the others lie count in their spread",
        "models/test_apart.py::test_codes_do_not_lengthen_the_scale_of_the_others",
        (
            "estimators/columns.py",
            "np.where(zoomed.apart, np.inf, np.maximum(noise, 1e-12))",
            "np.maximum(noise, 1e-12)",
        ),
    ),
    planted(
        "a number in two octaves by an edge is taken for one value and others far away",
        "estimators/test_columns.py::test_a_number_in_two_octaves_by_an_edge_is_not_one_value_and_others_far_away",
        ("estimators/columns.py", " * zoomed.varies)", ")"),
    ),
    planted(
        "noise of a stretched column's square is that of all others (ols, pure epsilon)",
        "models/test_loose_bounds.py::test_a_number_that_noise_alone_tells_from_a_constant_has_no_interval",
        ("estimators/gram/estimate.py", "(told.gram, moments.noise_shape)", "(told.gram, np.eye(len(back)))"),
    ),
    planted(
        "a design is taken from a schema that is only equal",
        "formula/test_design.py::test_a_design_is_built_once_for_a_schema_as_it_is_spelt_and_anew_for_one_that_is_only_equal",
        ("formula/design.py", "asked = spelt, schema", 'asked = "", schema'),
    ),
    planted(
        "a column off its centre is taken for known",
        "estimators/test_columns.py::test_a_column_near_an_end_that_noise_hides_is_known_no_better",
        ("estimators/columns.py", "np.hypot(found.second_sd, by_mean)", "found.second_sd"),
    ),
    planted(
        "rows of rare levels are as short as their release has them (survreg, pure epsilon)",
        "estimators/test_survreg_pure.py::test_steps_arrive_where_a_level_is_rare_and_columns_are_many",
        (
            "estimators/location_scale/events.py",
            "np.maximum(1.0, squares / radius_square)",
            "np.ones(len(rows))",
        ),
    ),
    planted(
        "inspections far from all failures end a fit in an error, after it has paid (survreg)",
        "models/test_survreg_intervals.py::test_inspections_far_from_all_failures_are_taken_to_say_a_little",
        (
            "estimators/location_scale/gaussian.py",
            "said = max(left.location, LEAST_SAID)",
            "said = left.location",
        ),
    ),
    planted(
        "a level whose scores leave an end open has the interval of a guess (survreg)",
        "estimators/test_level_without_events.py::test_a_level_whose_scores_leave_an_end_open_goes_as_far_as_effects_of_levels",
        (LINES, "OPEN * at.sigma**2 if open_ended", "0.0 * at.sigma**2 if open_ended"),
    ),
    planted(
        "contrasts to a reference level without rows rest on a guess (survreg)",
        "estimators/test_level_without_events.py::test_what_is_told_against_a_level_without_rows_goes_as_far_as_levels_do",
        (LINES, "few @ few.T", "(few @ few.T) * 1e-9"),
    ),
    planted(
        "a slope of what may not vary rests on a guess (survreg)",
        "models/test_loose_bounds.py::test_columns_that_noise_hides_in_their_bounds_have_no_short_interval",
        ("estimators/location_scale/estimate.py", "& scale.hardly_varies", "& False"),
    ),
    planted(
        "a number has the line of a fit without its square, which noise hides (all models)",
        "models/test_loose_bounds.py::test_the_line_of_a_number_whose_square_is_not_seen_is_not_that_of_a_fit_without",
        ("formula/layout.py", "told & numbers", "at_level"),
    ),
    planted(
        "means are known where noise hides a power as where it hides a spline (linear)",
        "models/test_loose_bounds.py::test_the_line_of_a_number_whose_square_is_not_seen_is_not_that_of_a_fit_without",
        ("results/prediction.py", '== "Intercept"))[lost].all()', '== "Intercept"))[lost].any()'),
    ),
    planted(
        "slopes that nothing bounds have intervals by the curvature where steps stopped (cloglog)",
        "estimators/test_slopes.py::test_a_slope_that_nothing_bounds_has_no_short_interval",
        ("estimators/newton/slopes.py", "if longer > sd:", "if longer < sd:"),
    ),
    planted(
        "slopes of a dose that few rows have rest on the curvature where steps stopped (probit)",
        "estimators/test_slopes.py::test_a_slope_of_a_dose_that_few_rows_have_has_no_short_interval",
        ("estimators/newton/slopes.py", "shares[most] <= 1 / 2", "shares[most] <= 3 / 2"),
    ),
    planted(
        "rows of a dose are thought to lie about the middle by all other columns (probit)",
        "estimators/test_slopes.py::"
        "test_a_slope_of_a_dose_whose_rows_nearly_all_say_no_by_other_columns_has_no_short_interval",
        ("estimators/newton/slopes.py", "float(leans()[j]) if sides else 0.0", "0.0"),
    ),
    planted(
        "rows of a dose are thought to lean away from where they do (probit)",
        "estimators/test_slopes.py::"
        "test_scores_of_rows_that_lie_on_one_side_by_other_columns_level_off_there[1.0]",
        (
            "estimators/newton/slopes.py",
            "-doubt.lean * np.sign(places[most])",
            "doubt.lean * np.sign(places[most])",
        ),
    ),
    planted(
        "columns lean where noise makes them (glm)",
        "estimators/test_slopes.py::test_columns_lean_to_where_their_product_with_all_others_surely_is",
        ("estimators/newton/slopes.py", "(np.abs(found) > SURE * noise)", "(np.abs(found) > 0 * noise)"),
    ),
    planted(
        "numbers with rows all over their range are taken for a dose that few rows have (probit)",
        "estimators/test_slopes.py::test_only_a_number_with_most_rows_in_one_octave_may_be_a_dose_that_few_have",
        ("estimators/newton/slopes.py", "shares[most] <= 1 / 2", "shares[most] <= 0"),
    ),
    planted(
        "slopes of a dose that few rows have rest on the information where steps stopped (logit)",
        "estimators/test_slopes.py::test_a_slope_of_a_dose_under_a_logit_has_no_short_interval_where_noise_hides_who_contradicts_it",
        (
            "estimators/newton/slopes.py",
            "if not problem.intercept:",
            "if score is None or not problem.intercept:",
        ),
    ),
    planted(
        "slopes of a dose that few rows have rest on the information where steps stopped (counts and amounts)",
        "estimators/test_slopes.py::"
        "test_a_slope_of_a_dose_that_steps_do_not_arrive_at_has_no_short_interval[gamma]",
        ("estimators/newton/slopes.py", " or (sides and located.away[j])):", "):"),
    ),
    planted(
        "noise of the share of a level takes the means of its rows anywhere (generalised linear)",
        "estimators/test_hidden.py::"
        "test_noise_of_the_share_of_a_level_takes_its_rows_no_farther_than_their_own_square_allows[1]",
        ("estimators/newton/level_coefficients.py", "max(told[0], float(tells @ told))", "told[0]"),
    ),
    planted(
        "rare products of levels are thought to be numbers with rows far away (generalised linear)",
        "models/test_apart.py::test_no_product_of_levels_is_apart",
        (
            "estimators/newton/located.py",
            "np.append(problem.plain, family",
            "np.append(problem.zero_or_one, family",
        ),
    ),
    planted(
        "intervals of slopes reach the nearer limit that scores give, not the farther one (logit)",
        "estimators/test_slopes.py::test_a_slope_of_a_dose_under_a_logit_has_no_short_interval_where_noise_hides_who_contradicts_it",
        (
            "estimators/newton/slopes.py",
            "np.abs(limits - slope).max()",
            "np.abs(limits - slope).min()",
        ),
    ),
    planted(
        "limits by scores that bend are never told (generalised linear)",
        "estimators/test_slopes.py::test_an_interval_reaches_a_limit_where_scores_level_off_and_one_by_their_bend_that_is_far_off",
        ("estimators/newton/slopes.py", "_FAR_OFF = 1.5", "_FAR_OFF = 1e9"),
    ),
    planted(
        "limits beyond the slopes that were asked first lie at the last of these (probit, logit)",
        "estimators/test_slopes.py::test_all_slopes_are_asked_where_those_near_do_not_tell_the_limits",
        (
            "estimators/newton/slopes.py",
            "if some[1] < limits[0] and limits[1] < some[-2]:",
            "if limits[0] < limits[1]:",
        ),
    ),
    planted(
        "an end that levels off is open where rows lie all over a number's range (probit, logit)",
        "estimators/test_slopes.py::test_an_interval_reaches_a_limit_where_scores_level_off_and_one_by_their_bend_that_is_far_off",
        ("estimators/newton/slopes.py", "if opened and longer > sd", "if longer > sd"),
    ),
    planted(
        "rows of a rare answer are thought to say as much as those of even odds (glm)",
        "models/test_rare_answers.py::test_a_rare_answer_has_as_many_steps_as_few_rows",
        ("estimators/newton/located.py", "* min(self.mean, 1 - self.mean)", "/ 2"),
    ),
    planted(
        "an end that few rarer answers leave open is closed (probit, logit)",
        "models/test_rare_answers.py::test_a_slope_that_few_rare_answers_leave_open_is_not_silently_short",
        ("estimators/newton/slopes.py", "rare, levels = scores.rarer < SURE", "rare, levels = False"),
    ),
    planted(
        "a line may expect any number of rare answers (yes or no)",
        "estimators/test_rarer.py::test_a_steeper_line_expects_no_more_rare_answers_than_there_surely_are",
        ("estimators/newton/rarer.py", "return point - ", "return point - 0 * "),
    ),
    planted(
        "answers of which there are many have the steps of rare ones (logit)",
        "models/test_rare_answers.py::test_a_rare_answer_has_as_many_steps_as_few_rows",
        ("estimators/newton/iterate.py", "_RARE = 4.0", "_RARE = 40.0"),
    ),
    planted(
        "slopes that noise hides may be as steep as linear predictors go (logit)",
        "estimators/test_slopes.py::test_a_slope_of_a_dose_under_a_logit_has_no_short_interval_where_noise_hides_who_contradicts_it",
        ("estimators/newton/slopes.py", "steepest = REACH / ", "steepest = 3 * REACH / "),
    ),
    planted(
        "rows that have a dose are taken to lie on both sides of those that have none (logit)",
        "estimators/test_slopes.py::test_rows_beyond_a_value_that_most_have_may_be_on_either_side_that_is_wide_enough",
        (
            "estimators/newton/slopes.py",
            "pairs = (min(below, near), above), (below, min(above, near))",
            "pairs = (below, above), (below, above)",
        ),
    ),
    planted(
        "rows beside a declared end are taken to lie on both sides of their mean (cloglog)",
        "estimators/test_slopes.py::test_rows_are_placed_by_octaves_and_declared_ends",
        (
            "estimators/newton/slopes.py",
            "(np.append(shares[1:], 0.0) == 0) & (lacking != 0)",
            "np.zeros(len(shares), bool)",
        ),
    ),
    planted(
        "a comparison and an interval of cut() are taken for slopes",
        "results/test_glm_effects.py::test_what_enters_by_steps_has_no_derivative",
        ("formula/block.py", "LEAST = 1e-6", "LEAST = 2.0"),
    ),
    planted(
        "the units of a ratio in a summary are those of the bounds",
        "results/test_summary.py::test_ratios_of_a_summary_are_those_of_its_table_of_ratios_whatever_the_bounds",
        (
            "results/summary.py",
            "log_estimate(name, float(value), float(se), level)",
            "log_estimate(name, 10 * float(value), 10 * float(se), level)",
        ),
    ),
    planted(
        "the reference of a factor is the first level of the variable, whatever the formula says",
        "results/test_summary.py::test_the_reference_is_the_level_without_a_column",
        (
            "formula/factors.py",
            "self.levels[told or 0] if type(told) in (int, type(None)) else told",
            "self.levels[0]",
        ),
    ),
    planted(
        "rows that a subset or a unit leaves out are a caution of a curve",
        "models/test_kaplan_meier.py::test_rows_that_are_left_out_on_purpose_are_no_caution",
        (
            "results/survival_curve.py",
            "if self.weights or self.subset or self.unit != str(ROW):",
            "if self.weights:",
        ),
    ),
    planted(
        "a number of rows that noise puts beyond those of the table is an interval of one number (describe)",
        "models/test_describe.py::test_a_number_of_rows_is_none_beyond_that_of_the_table_and_has_limits",
        (
            "moments/cell_table.py",
            "(min(max(end - beyond, least), most) for end",
            "(min(max(end, least), most) for end",
        ),
    ),
    planted(
        "limits of a mean of predictions are the ends of the way along its gradient (glm)",
        "results/test_glm_effects.py::test_the_limits_of_a_mean_are_its_extremes_on_the_way_along_its_gradient",
        ("results/prediction.py", "np.linspace(-1.0, 1.0, 17)", "np.array([1.0])"),
    ),
    planted(
        "what a curved link makes of errors is no part of the limits of a mean of predictions (glm)",
        "results/test_glm_effects.py::test_the_limits_of_a_mean_hold_where_single_rows_are_badly_known",
        ("results/prediction.py", "np.maximum(side * (each - (outer + inner) / 2), 0.0).mean()", "0.0"),
    ),
    planted(
        "limits of a mean of predictions are beyond those of its rows (glm)",
        "results/test_glm_effects.py::test_an_average_over_one_point_is_the_prediction_there",
        ("results/prediction.py", "(np.fmin if side > 0 else np.fmax)(outer.mean(), limit)", "limit"),
    ),
    planted(
        "slopes that rest on a prior are taken for told where there are strata",
        "models/test_strata_loose_bounds.py::test_what_noise_hides_of_slopes_with_strata_has_no_short_interval",
        (
            "estimators/location_scale/strata.py",
            "np.column_stack([few_events(state.bounding, released, whitening), blind])",
            "few_events(state.bounding, released, whitening)",
        ),
    ),
    planted(
        "noise of the diagonal is taken for correlations (signs)",
        "estimators/test_sign_frame.py::test_columns_of_uneven_spread_are_not_taken_for_correlated",
        (
            "estimators/location_scale/sign_frame.py",
            "(matrix - np.diag(np.diag(matrix))) / size, noise",
            "matrix / size, noise",
        ),
    ),
    planted(
        "near duplicates of which one correlation stands out are told apart (signs)",
        "models/test_survreg_signs.py::test_near_duplicates_that_signs_hardly_tell_apart_are_not_silent",
        (
            "estimators/location_scale/sign_frame.py",
            "max(hidden / least, SURE * np.max(relative / values))",
            "hidden",
        ),
    ),
    planted(
        "an error of the information is none of the way that steps went (signs)",
        "estimators/test_sign_frame.py::test_a_matrix_that_may_be_wrong_is_an_error_of_the_way_that_steps_went",
        (
            "estimators/location_scale/signs.py",
            "np.pad(found.moved / sigma,",
            "np.pad(0 * found.moved,",
        ),
    ),
    planted(
        "the curve of a column that noise leaves in one place is no number",
        "estimators/test_bent_times.py::test_a_column_that_noise_leaves_in_one_place_has_no_square_to_tell",
        (
            COLUMNS_LAW,
            "np.where(spread, varies / np.where(spread, along, 1.0), 0.0)",
            "varies / along",
        ),
    ),
    planted(
        "noise of the covariates' matrix is no error of the information (signs)",
        "models/test_survreg_signs.py::test_the_difference_of_columns_that_nearly_repeat_each_other_has_no_short_interval",
        (
            "estimators/location_scale/signs.py",
            "errors = np.hypot(TUNING.structure, frame.shape.relative)",
            "errors = np.full(len(frame.shape.relative), TUNING.structure)",
        ),
    ),
    planted(
        "what is expected of strata has no noise of the events' matrix",
        "models/test_survreg_strata.py::test_what_noise_hides_of_columns_that_nearly_repeat_each_other_is_told",
        (
            "estimators/location_scale/strata.py",
            "structure_sd(self.events, stretched,",
            "structure_sd(self.events, 0 * stretched,",
        ),
    ),
    planted(
        "steps of rare flags are as short as those of other columns (strata)",
        "models/test_survreg_strata.py::test_steps_of_a_rare_flag_arrive",
        ("estimators/location_scale/strata.py", "_LEAST_INFORMATION * usual", "_LEAST_INFORMATION"),
    ),
    planted(
        "levels are told against one that no row has (survreg)",
        "estimators/test_level_without_events.py::test_what_is_told_against_a_level_without_rows_goes_as_far_as_levels_do",
        (LINES, "events * (counted - 2 * sd) < FEWEST_EVENTS", "counted < -1"),
    ),
    planted(
        "levels are read against their reference (survreg)",
        "estimators/test_level_without_events.py::test_levels_beside_a_reference_that_few_rows_have_are_told_apart",
        (LINES, "in sums_of_levels(scale):", "in list(sums_of_levels(scale))[:0]:"),
    ),
    planted(
        "a reference without failures has an interval where its contrast has none (survreg)",
        "estimators/test_rare_levels.py::test_a_reference_without_failures_is_open_as_far_as_the_others_are_known",
        (LINES, "(axis - scale.center[j] * np.eye(len(middle))[0]) / width", "axis / width"),
        (
            "estimators/location_scale/gaussian.py",
            "self.need(self.order), released)",
            "self.need(self.order), self.information)",
        ),
    ),
    planted(
        "scores of a level grow with each sigma by which its rows fail too early (survreg)",
        "estimators/test_rare_levels.py::test_rows_that_fail_before_the_floor_of_scores_make_no_longer_step_for_it",
        (
            "estimators/location_scale/level_lines.py",
            "np.prod(cut.at(z)[:2], axis=0)",
            "cut.at(z).g * family.log_hazard_slope(z)",
        ),
    ),
    planted(
        "failures of a flag are counted by what is expected of them (signs)",
        "estimators/test_rare_levels.py::test_a_flag_of_which_signs_see_hardly_a_row_is_open",
        (SCALE, "few_events(bounding, released, ", "few_events(bounding, information, "),
    ),
    planted(
        "a dose with which hardly a row fails has an interval by a guess of what noise hides (survreg)",
        "estimators/test_level_without_events.py::test_a_dose_with_which_hardly_a_row_fails_has_no_short_interval",
        (
            "estimators/location_scale/level_lines.py",
            "np.hstack([*sums_of_values(scale), _sums_of_doses(scale)])",
            "np.hstack(sums_of_values(scale))",
        ),
    ),
    planted(
        "rows with a dose are counted from the far end of its bounds (survreg)",
        "estimators/test_level_without_events.py::test_a_dose_with_which_hardly_a_row_fails_has_no_short_interval",
        (
            "estimators/location_scale/level_lines.py",
            "np.abs(lower) < np.abs(upper)",
            "np.abs(lower) > np.abs(upper)",
        ),
    ),
    planted(
        "what is told of the failures of a level makes some of its reference (survreg)",
        "estimators/test_structure.py::test_what_the_first_stage_says_of_one_level_makes_none_of_another",
        (
            "estimators/location_scale/events.py",
            "structure.nearest((one + one.T) / 2, way)",
            "back.T @ ((one + one.T) / 2) @ back",
        ),
    ),
    planted(
        "levels that may have no failure have an interval (coxph)",
        "models/test_coxph.py::test_a_level_that_no_row_has_may_be_anywhere",
        (
            "estimators/hazards/level_steps.py",
            "n * known.surely(ways)) < FEWEST_EVENTS",
            "n * known.surely(ways)) < -1e9",
        ),
    ),
    planted(
        "a spread that the first stage did not tell is taken for known (coxph)",
        "models/test_coxph.py::test_a_column_whose_spread_the_first_stage_did_not_tell_is_told_by_releases_alone",
        ("estimators/hazards/information.py", "self.error)", "0 * self.error)"),
    ),
    planted(
        "what lies between pieces and columns is as noisy in stretched directions as in others (coxph)",
        "models/test_coxph.py::test_columns_of_a_spline_that_go_together_cost_no_other_covariate",
        ("estimators/hazards/information.py", "parts[1] @ whitening", "parts[1] @ np.linalg.inv(whitening)"),
        ("estimators/hazards/information.py", "whitening.T @ whitening", "np.eye(len(whitening))"),
    ),
    planted(
        "one direction is believed as if noise had chosen it among all",
        "estimators/test_engine.py::test_an_eigenvalue_is_believed_by_the_noise_along_its_own_direction",
        (
            "estimators/engine/information.py",
            "np.maximum(believed(sds), 1e-12)",
            "np.maximum(math.sqrt(2 * len(sds)) * sds, 1e-12)",
        ),
    ),
    planted(
        "columns that cancel each other are as well known as each of them (survreg)",
        "models/test_loose_bounds.py::test_the_difference_of_near_duplicates_that_noise_hides_is_weak_or_long",
        (
            "estimators/engine/information.py",
            "effect = np.maximum(2 * largest - alone.sum(axis=0), most)",
            "effect = largest",
        ),
    ),
    planted(
        "columns of little information are taken for such as cancel each other (survreg)",
        "estimators/test_cancelled.py::test_columns_that_all_have_little_information_do_not_cancel",
        (
            "estimators/engine/information.py",
            "own[:, None] * np.abs(to_params @ self.vectors)[columns]",
            "np.abs(to_params @ self.vectors)[columns]",
        ),
    ),
    planted(
        "what noise leaves of uncorrelated columns is taken for such as cancel each other (survreg)",
        "estimators/test_cancelled.py::test_noise_makes_no_columns_that_cancel_of_uncorrelated_ones",
        (
            "estimators/engine/information.py",
            "least = self.used / (self.used + math.sqrt(2 * noisy) * self.sds)",
            "least = 0.5",
        ),
    ),
    planted(
        "an interval of hazards that counts a guess of usual effects is under a caution, too",
        "models/test_coxph.py::test_noise_that_hides_some_of_independent_columns_is_told_by_their_intervals_alone",
        ("estimators/hazards/estimate.py", "blind(_PRIOR * cancelled)", "blind(_PRIOR)"),
    ),
    planted(
        "covariates of hazards that nearly repeat each other are not told",
        "models/test_coxph.py::test_columns_that_nearly_repeat_each_other_are_told_where_noise_hides_their_difference",
        ("estimators/hazards/estimate.py", "blind(_PRIOR * cancelled)", "blind(0.0)"),
    ),
    planted(
        "rows at the end of a part of a box are taken for one of two values",
        "estimators/test_columns.py::test_rare_amounts_are_not_taken_for_one_of_two_values",
        ("estimators/columns.py", "binary = whole & (second", "binary = (second"),
    ),
    planted(
        "a skewed column near one end is taken for one of two values",
        "estimators/test_columns.py::test_a_skewed_column_near_an_end_has_its_mean_there_and_is_not_of_two_values",
        ("estimators/columns.py", " & (second > most - sds)", ""),
    ),
    planted(
        "the mean of a skewed column near one end is cut",
        "estimators/test_columns.py::test_a_skewed_column_near_an_end_has_its_mean_there_and_is_not_of_two_values",
        ("estimators/columns.py", "np.clip(first, -1.0, 1.0)", "np.clip(first, -0.95, 0.95)"),
    ),
    planted(
        "squares that counted rows lost are left out of what a penalty rests on",
        "models/test_linear_honest.py::test_a_penalty_rests_on_squares_that_long_rows_lost",
        ("estimators/gram/whole.py", "released.gram + long.lost_squares(radius)", "released.gram + 0.0"),
    ),
    planted(
        "an error of a factor is taken for one of a logarithm (ridge)",
        f"{HONEST}a_variance_of_which_the_first_stage_missed_the_ends_is_known_up_to_a_factor",
        ("estimators/gram/whole.py", "np.where(short, np.expm1(SURE * error) / SURE, error)", "error"),
    ),
    planted(
        "a variance known up to a factor may be smaller by as much as larger (ridge)",
        f"{HONEST}a_variance_of_which_the_first_stage_missed_the_ends_is_known_up_to_a_factor",
        ("estimators/gram/whole.py", "np.expm1(SURE * error) / SURE", "np.sinh(SURE * error) / SURE"),
    ),
    planted(
        "nothing is beyond the last cell where most of a variance is in it (ridge)",
        f"{HONEST}a_variance_of_which_the_first_stage_missed_the_ends_is_known_up_to_a_factor",
        ("estimators/gram/whole.py", "held * (low * high - end**2)", "0.0 * held"),
    ),
    planted(
        "a slope of what may not vary rests on a prior (linear)",
        "models/test_loose_bounds.py::test_amounts_that_noise_hides_have_no_short_interval",
        (
            "estimators/gram/estimate.py",
            "square <= sds * told.noise_gram * noise",
            "square < -1e9",
        ),
    ),
    planted(
        "a bend is not told (linear)",
        "models/test_bends.py::test_a_line_that_levels_off_where_long_rows_count_less_is_seen",
        ("estimators/gram/estimate.py", "[BENDS] * told", "[]"),
    ),
    planted(
        "a bend that is hardly seen widens nothing (linear)",
        "models/test_bends.py::test_a_line_has_wider_intervals_the_more_it_bends",
        (
            "estimators/gram/estimate.py",
            "bending(bend.square / moments",
            "bending(0 * bend.square / moments",
        ),
    ),
    planted(
        "what few steps scatter by chance is told (glm)",
        f"{SECOND_ORDER}scatter_of_few_steps_may_be_chance",
        (
            "estimators/engine/average.py",
            "max(SCATTER, float(special.chdtri(numbers, DOUBTFUL)) / numbers)",
            "SCATTER",
        ),
    ),
    planted(
        "columns are looked for in their declared bounds alone (glm)",
        "models/test_loose_bounds.py::test_wide_bounds_cost_next_to_nothing",
        ("estimators/newton/looks.py", "(seen.hidden[:-1] == 0)", "(seen.hidden[:-1] < 0)"),
    ),
    planted(
        "counts are looked for in their declared bounds alone",
        "models/test_loose_bounds.py::test_counts_may_be_declared_far_beyond_any[1000000]",
        (
            "estimators/newton/looks.py",
            "np.append(chosen[:-1], False), not problem.family.two_valued",
            "np.append(chosen[:-1], not problem.family.two_valued), False",
        ),
    ),
    planted(
        "counts that noise hides are taken for few",
        "models/test_loose_bounds.py::test_of_counts_that_noise_hides_nothing_is_estimable",
        (NEWTON, "located.lowest or not", "not"),
    ),
    planted(
        "a column that lies as far from its mean on both sides is taken for constant",
        "estimators/test_located.py::test_a_column_varies_that_was_seen_at_two_places",
        ("estimators/newton/located.py", "constant &= ~varies", "constant &= True"),
    ),
    planted(
        "one octave that noise may have made shows how far a column spreads",
        "estimators/test_located.py::test_a_column_varies_where_noise_does_not_make_the_others[4-False]",
        (
            "estimators/newton/located.py",
            "~(stands_out & _elsewhere(beside, counts, noise, visible))",
            "~stands_out",
        ),
    ),
    planted(
        "a spread of which noise may make most is taken for known",
        "estimators/test_located.py::test_a_spread_of_which_noise_may_make_most_is_not_known[3.05-False]",
        ("estimators/newton/located.py", "- _SURE_SHARE * shares", "- 0 * shares"),
    ),
    planted(
        "amounts that are mostly 0 are looked at about a noisy mean",
        "estimators/test_located.py::test_amounts_in_few_rows_are_seen_about_0",
        ("estimators/newton/looks.py", "(zoomed.hidden[:d] > 0)", "(zoomed.hidden[:d] < 0)"),
    ),
    planted(
        "a column of one value by the edge of a cell is taken to vary",
        "estimators/test_located.py::test_cells_that_are_neighbours_prove_nothing",
        ("estimators/zoom.py", "[:, ::-1].argmax(axis=1) > 2)", "[:, ::-1].argmax(axis=1) > 1)"),
    ),
    planted(
        "a response that noise hides is taken for none",
        "estimators/test_located.py::test_the_mean_of_a_rare_yes_is_what_noise_makes_of_it",
        ("estimators/newton/located.py", " or np.count_nonzero(shares) == 1:", ":"),
    ),
    planted(
        "codes are not told (glm)",
        "models/test_apart.py::test_codes_are_told_by_generalised_linear_models[poisson-y]",
        ("estimators/newton/check.py", "(APART,) * apart.told", "()"),
    ),
    planted(
        "responses are apart where the line says that they are large",
        "models/test_apart.py::test_responses_that_the_line_says_are_large_are_not_apart[gamma]",
        ("estimators/newton/check.py", "apart=True) | line", "apart=True)"),
    ),
    planted(
        "a yes or no lies between rows that are apart and others",
        "models/test_apart.py::test_codes_are_told_by_generalised_linear_models[binomial-x]",
        ("estimators/apart.py", "2 / NEAR *", "2 *"),
    ),
    planted(
        "rows apart draw no line",
        "models/test_apart.py::test_intervals_count_how_far_codes_draw_the_line",
        ("estimators/gram/estimate.py", "if not apart.told:", "if True:"),
    ),
    planted(
        "sigma is larger than declared bounds of the response allow",
        "results/test_linear.py::test_limits_stay_in_range_whatever_the_noise_did",
        ("results/linear.py", "most = self.record.widest\n", "most = None\n"),
    ),
    planted(
        "counts that are mostly 0 are rows apart",
        "models/test_apart.py::test_counts_that_are_mostly_0_are_not_rows_apart",
        ("estimators/newton/located.py", "family.two_valued or self.flat)", "family.two_valued)"),
        ("estimators/newton/located.py", "float(family.counts))", "0.0)"),
    ),
    planted(
        "counts are looked for where they are less their offset",
        "models/test_glm_metamorphic.py::test_the_unit_of_an_exposure_moves_the_intercept_only[730.0]",
        ("estimators/newton/looks.py", "log=False, apart=True)", "log=False)"),
    ),
    *(
        planted(what, f"estimators/test_engine.py::test_{test}", (f"estimators/engine/{file}", old, new))
        for what, test, file, old, new in (
            (
                "an error of the information widens nothing",
                "an_error_of_the_information_widens_along_its_direction",
                "information.py",
                "1 + (2 * self.sds / self.used) ** 2",
                "1 + (0 * self.sds / self.used) ** 2",
            ),
            (
                "what is not seen has no variance",
                "what_is_not_seen_gets_no_step_and_the_variance_of_a_guess",
                "information.py",
                "((1 - self.seen) * variance)",
                "(0 * self.seen * variance)",
            ),
            (
                "a step runs on beyond its cap",
                "a_long_step_is_cut_short_and_a_short_one_is_as_it_is",
                "route.py",
                "step * min(1.0, longest / max(length, 1e-300))",
                "step",
            ),
            (
                "a lost coefficient keeps its privacy part",
                "a_coefficient_that_is_lost_is_no_longer_weak_and_leaves_the_others",
                "finish.py",
                "cov[which, which] = privacy[which, which] = np.inf",
                "cov[which, which] = np.inf",
            ),
            (
                "doubt that a check finds is told and not counted",
                "doubt_adds_to_all_uncertainty_and_not_to_that_of_noise",
                "finish.py",
                "cov=self.cov + cov, bias",
                "cov=self.cov, bias",
            ),
        )
    ),
    planted(
        "steps that still move are not told (survreg)",
        f"{SETTLED}steps_that_still_move_say_so",
        (SCALE, "capped.any() or drift or", "capped.any() or"),
    ),
    planted(
        "a step that was cut short is not told (survreg)",
        f"{SETTLED}a_step_that_was_cut_short_is_told",
        (SCALE, "capped.any() or drift or", "drift or"),
    ),
    planted(
        "scatter beyond the noise widens its own part alone (survreg)",
        f"{SETTLED}steps_that_scatter_beyond_their_noise_widen_intervals_and_say_so",
        (SCALE, "privacy * spread + sampling * (spread - 1)", "privacy * spread"),
    ),
    planted(
        "an eigenvalue that noise half made is taken for what it seems (survreg)",
        "estimators/test_engine.py::test_a_step_is_as_long_as_scores_leave_it_at_the_least_information_that_may_be_there",
        ("estimators/engine/information.py", "self.values - _BY_ERROR * self.sds", "self.values"),
    ),
    planted(
        "the noise of the number of events is forgotten (survreg)",
        f"{SETTLED}noise_beyond_what_is_usable_widens_intervals_with_its_cube",
        (SCALE, "return max(noise, count)", "return noise"),
    ),
    planted(
        "what noise hides is taken to be small (survreg)",
        f"{SETTLED}a_direction_that_noise_hides_may_have_any_effect_that_is_plausible",
        (SCALE, "np.max(ends, axis=0) ** -2", "0.01 * np.max(ends, axis=0) ** -2"),
    ),
    planted(
        "what chance makes of few steps is a scatter beyond noise (survreg)",
        f"{SETTLED}chance_makes_no_caution_of_a_few_steps_of_a_few_numbers",
        (SCALE, "scattered(spread, (count - 1) * k)", "spread > 2.0"),
    ),
    planted(
        "steps on the way are averaged with the others (survreg)",
        f"{SETTLED}steps_on_the_way_are_left_out",
        (SCALE, "for left in range(len(steps.points) // 2 + 1)", "for left in range(1)"),
    ),
    planted(
        "a column that is long on one side is not named (survreg)",
        f"{SETTLED}a_column_that_is_long_on_one_side_is_named",
        (
            SCALE,
            "ranges = problems_at(RANGE, 1 + np.flatnonzero(long))",
            "ranges = problems_at(RANGE, 1 + np.flatnonzero(long[:0]))",
        ),
    ),
    planted(
        "all rows that enter late are taken to have one line (survreg)",
        f"{EVENTS}events_along_a_line_are_normal_about_it",
        (LAW, "mean + between * place + about", "mean + about"),
    ),
    planted(
        "what a cut leaves of a score is not tapered (survreg)",
        f"{EVENTS}rows_watched_to_one_hazard_fail_as_the_law_has_it",
        (LAW, "g * slope * log_sigma", "slope * log_sigma"),
    ),
    planted(
        "a family is asked for by its name (survreg)",
        "families/test_names.py::test_no_family_is_asked_for_by_name",
        (LAW, "if self.family.bounded:", 'if self.family.name != "gaussian":'),
    ),
    planted(
        "the clock is right within a first cell that holds half of all failures",
        f"{BURST}lives_that_end_within_the_first_step_are_told[0.6-1]",
        (
            "estimators/hazards/estimate.py",
            "grid.clock_error(moved), _bursts(grid, c)",
            "grid.clock_error(moved), 0.0",
        ),
    ),
    planted(
        "rows of hazards that count less are taken for less far from the others",
        "estimators/test_predictors.py::test_rows_that_count_less_are_as_far_from_the_others",
        (
            "estimators/hazards/predictors.py",
            "np.minimum(points**2, (beta * longest)[:, None] ** 2)",
            "points**2",
        ),
    ),
    planted(
        "all rows of a number are taken for rows that fail",
        "estimators/test_predictors.py::test_rows_of_a_number_that_hardly_ever_fail_are_no_more_for_it",
        ("estimators/hazards/predictors.py", "[known, others])", "[known, known])"),
    ),
    planted(
        "cells tell where in them rows of high hazard lie",
        "models/test_coxph.py::test_cells_that_hide_where_rare_rows_lie_lengthen_their_interval",
        (
            "estimators/hazards/estimate.py",
            "_in_cells(grid, c), grid.follows * grid.misplaced)",
            "_in_cells(grid, c))",
        ),
    ),
    planted(
        "a step takes the clock for known, which slopes turn",
        "estimators/test_predictors.py::test_a_step_along_slopes_counts_again_what_the_clock_makes_of_it",
        ("estimators/hazards/estimate.py", "* share / (1 - share)", "* share"),
    ),
    planted(
        "a fit of hazards looks at six decades of time alone",
        f"{BURST}lives_over_many_decades_need_no_caution[decades]",
        ("estimators/exit_times.py", "_FEW, _LONGEST = 24, 18.0", "_FEW, _LONGEST = 24, 6.0"),
    ),
    planted(
        "a fit of hazards does not say that nearly all failures come at one time",
        f"{BURST}times_in_another_unit_than_their_bounds_are_told[0]",
        ("estimators/hazards/estimate.py", "[CONSTANT] * grid.constant", "[]"),
    ),
    planted(
        "all failures tell of the baseline, whether they count or not",
        f"{BURST}events_are_seen_until_their_rows_have_spent_so_much_since_they_entered",
        (
            "estimators/hazards/grid.py",
            "seen = np.maximum(self.kept(c, spread), _LEAST_SHARE) * self.events",
            "seen = self.events",
        ),
    ),
    planted(
        "a log-normal of many times its mean has no upper limit to speak of",
        "results/test_limits.py::test_limits_of_hazards_hold_what_noise_of_the_clock_may_be[1.0-0.8]",
        ("results/survival_hazards.py", "np.fmin(low, most)", "low"),
    ),
    planted(
        "a clock is even where noise hides when rows fail",
        "estimators/test_clock_shape.py::test_the_shape_is_found_by_counts_that_hide_the_cells[3.0]",
        ("estimators/hazards/shape.py", "_likely(counts, expected, sd**2) + _PRIOR", "1e6 * _PRIOR"),
    ),
    planted(
        "sums of counts that are drawn to a law have no error of the law",
        "estimators/test_clock_shape.py::test_errors_of_sums_of_noisy_counts_are_told[30.0-False]",
        ("estimators/hazards/shape.py", "errors.append(np.maximum(of_law, 0.0) + ", "errors.append("),
    ),
    planted(
        "those at risk fall in a line where most of them fail",
        "estimators/test_clock_shape.py::test_the_clock_is_steady_where_most_of_those_at_risk_fail",
        ("estimators/hazards/grid.py", "return np.arctanh(half) / half,", "return np.ones_like(half),"),
    ),
    planted(
        "hazards change through all of a stretch that rows see the beginning of",
        f"{BURST}of_a_long_stretch_rows_see_no_more_than_they_are_observed_for",
        ("estimators/hazards/estimate.py", "np.minimum(grid.even, c) @", "grid.even @"),
    ),
    planted(
        "failures are spread over a run however surely they are in one cell",
        "estimators/test_clock_shape.py::test_failures_that_surely_come_in_one_cell_are_not_spread_over_others",
        ("estimators/hazards/grid.py", "1 - (SURE * sd) ** 2 / beyond)", "0.0)"),
    ),
    planted(
        "noise of entries hides from the rows at risk those that fail in a cell",
        "estimators/test_clock_shape.py::test_no_hazard_comes_of_fewer_rows_than_half_of_those_that_fail",
        ("estimators/hazards/grid.py", "- stay / 2, each / 2))", "- stay / 2, 0.0))"),
    ),
    planted(
        "where noise hides whether rows are at risk none are",
        "estimators/test_clock_shape.py::test_hazards_go_on_where_noise_may_hide_all_rows_at_risk",
        ("estimators/hazards/grid.py", "spread = (early + late) / 2", "spread = early"),
    ),
    planted(
        "all who fail later are at risk, though they enter later",
        f"{BURST}curves_hold_where_few_rows_are_watched_from_the_beginning",
        ("estimators/hazards/grid.py", "stay = each - counted.enter", "stay = each"),
    ),
    planted(
        "noise may hide from the rows at risk those that fail later",
        "estimators/test_clock_shape.py::test_those_who_fail_later_are_at_risk_but_for_those_who_enter_later",
        ("estimators/hazards/grid.py", "stay = each - counted.enter", "stay = 0 * each"),
    ),
    planted(
        "hazards that rise through a run are a burst",
        f"{BURST}a_burst_is_what_is_surely_faster_than_both_neighbours",
        ("estimators/hazards/grid.py", "np.maximum(*ratios)", "ratios[0]"),
    ),
    planted(
        "all hazards are taken to be proportional",
        "estimators/test_event_expectations.py::test_hazards_are_proportional_where_their_slope_never_changes",
        ("families/location_scale.py", "self.log_hazard_slope(_LATE)", "self.log_hazard_slope(_EARLY)"),
    ),
    planted(
        "doubt about the weights of rows is left out of sigma",
        "results/test_linear.py::test_doubt_about_the_weights_of_rows_is_part_of_both_errors",
        (SPREAD, " + moments.weighting.doubt**2", ""),
    ),
    planted(
        "what clipping took of the variance is taken for certain",
        "results/test_linear.py::test_what_clipping_is_thought_to_take_of_the_variance_is_uncertain",
        (SPREAD, "_HEAVIER * tail", "0.0"),
    ),
    planted(
        "noise of the variance of the response is left out of that of R-squared",
        "results/test_linear.py::test_rsquared_is_told_by_fitted_values_or_by_the_response_whichever_is_better_known",
        (SPREAD, "left * told.noise_total) / told.total", "0.0) / told.total"),
    ),
    planted(
        "that an eigenvalue may be smaller than its noise made it is left out of what is divided by it",
        "results/test_linear.py::test_what_a_noisy_eigenvalue_divides_may_be_larger_as_far_as_noise_tells",
        ("moments/solution.py", "1 + square * (3 + square * (30 + 630 * square))", "1.0 + 0 * square"),
    ),
    planted(
        "a penalised line is taken not to depend on which covariates were sampled",
        HONEST + "which_rows_were_sampled_matters_to_a_penalised_line_without_any_residual",
        ("moments/linear.py", "[sampling + pulled.sampling(apart)", "[sampling"),
    ),
    planted(
        "a penalty takes the weighted covariates for those of all rows",
        "results/test_linear.py::test_a_penalty_counts_the_covariates_of_all_rows",
        ("moments/noisy.py", "if self.untold.whole is None else", "if True else"),
    ),
    planted(
        "clipping skewed errors that grow with the mean is taken to move the intercept alone",
        HONEST + "slopes_are_held_where_skewed_errors_grow_with_the_mean",
        (SPREAD, "_SHORTENED = 2.0", "_SHORTENED = 0.0"),
    ),
    planted(
        "clipping is taken to bend no line of amounts that spread with their mean",
        HONEST + "amounts_that_spread_with_their_mean_are_held_under_pure_epsilon[3000-4]",
        (SPREAD, "lost * up / spread * slopes", "0.0 * slopes"),
    ),
    planted(
        "a fit that saw no row gives estimates",
        HONEST + "where_no_row_can_be_read_nothing_is_estimable",
        ("moments/solution.py", "    lost |= ~np.asarray(seen)\n", ""),
    ),
    planted(
        "sigma is limited as if tails were exponential at most",
        HONEST + "sigma_and_rsquared_are_held_where_errors_have_the_tail_of_a_power",
        (SPREAD, "error_up_to(power / (1 + tail))", "0.0"),
    ),
    planted(
        "few rows that hold most of a variance are taken to be what any column has",
        "models/test_apart.py::test_few_rows_that_hold_most_of_a_variance_are_told_and_limits_of_sigma_reach_it",
        ("estimators/apart.py", "rows / reach**2", "rows / FAR**2"),
    ),
    planted(
        "limits of sigma do not reach what rows that are told to be apart hold",
        "models/test_apart.py::test_few_rows_that_hold_most_of_a_variance_are_told_and_limits_of_sigma_reach_it",
        (GRAM, "math.hypot(moments.weighting.doubt, more)", "moments.weighting.doubt"),
    ),
    planted(
        "noise of a regression of hazards is taken to be as small along rare levels as along others",
        "models/test_coxph.py::test_a_flag_that_few_rows_have_is_told_as_well_as_their_failures_tell_it",
        ("estimators/hazards/bounds.py", "SMALLEST, 1.0)", "1.0, 1.0)"),
    ),
    planted(
        "all kurtosis that exponential errors have is taken for theirs",
        "results/test_linear.py::test_sigma_is_held_where_errors_have_the_tails_of_t_of_few_degrees",
        ("moments/tails.py", "heavy**-_HEAVIER", "1"),
    ),
    planted(
        "far rows beyond a limit move no slope",
        HONEST + "a_slope_holds_least_squares_where_far_responses_become_more_along_its_covariate",
        (
            FAR,
            "moved, unknown, share = near[0] + farther[0], near[1] + farther[1], near[2] + farther[2]",
            "moved, unknown, share = 0.0 * near[0], 0.0 * near[1], 0.0",
        ),
    ),
    planted(
        "rows farther than twice a limit are taken to lie at a place that nobody told",
        HONEST + "a_line_holds_least_squares_where_few_amounts_far_beyond_its_limit_go_along_with_an_age",
        (FAR, "_MEAN * self.distances.edges", "_MEAN * _NEAR * np.ones(len(self.distances.edges))"),
    ),
    planted(
        "rows farther than twice a limit are believed in whether a release is likelier with them or not",
        "estimators/test_far.py::test_far_rows_that_may_be_noise_move_nothing",
        (FAR, "_LIKELIER * math.exp", "0.0 * math.exp"),
    ),
    planted(
        "a code of distances may be of any length",
        "estimators/test_gram_exact.py::test_a_code_of_distances_that_the_proof_does_not_have_is_refused",
        ("curator/statistics/pilot.py", " or ((self._code**2).sum(axis=1) > 1 + 1e-12).any()", ""),
    ),
    planted(
        "all far rows may go along with any covariate whatever was told",
        HONEST + "errors_with_a_tail_that_goes_along_with_no_covariate_hardly_lengthen_intervals",
        (FAR, "missing**2 * self.sides_sd**2 * trust", "missing**2 * prior"),
    ),
    planted(
        "noise of their number is taken for far rows",
        "estimators/test_far.py::test_far_rows_that_may_be_noise_move_nothing[1.2]",
        (FAR, "told - self.share_sd**2 / told", "told"),
    ),
    planted(
        "a mean square that noise made negative tells of rows beyond all that was seen",
        "estimators/test_reach.py::test_noise_that_makes_a_mean_square_negative_tells_of_no_rows",
        ("estimators/gram/tail.py", "max(square + error, 0.0) >= sure", "square + error >= sure"),
    ),
    planted(
        "residuals of the nearest cells are not seen together where one of them is seen alone",
        "estimators/test_reach.py::test_the_nearest_cells_are_seen_if_they_stand_out_most_together",
        ("estimators/gram/reach.py", " | together & (widths <= 1 + over.argmax())", ""),
    ),
    planted(
        "a kurtosis that nobody released is taken to be normal errors'",
        "results/test_linear.py::test_a_kurtosis_of_which_nobody_tells_is_as_uncertain_as_one_that_noise_hides",
        (SPREAD, "math.inf if sd is None", "0.0 if sd is None"),
    ),
    planted(
        "what a kurtosis that nobody released tells of far rows is that of exponential errors",
        HONEST + "under_pure_epsilon_sigma_is_held_where_tails_are_heavy",
        (SPREAD, "math.inf if told.meat is not None else noise", "math.inf"),
    ),
    planted(
        "a cell of one heap is divided where it looks even by chance",
        "models/test_describe.py::test_limits_of_quantiles_hold_the_heap_that_they_are_of[half to five]",
        ("moments/cell_table.py", " and not self._heaped", ""),
    ),
    planted(
        "noise of a mean moves a variance by what the mean seems to be",
        "models/test_describe.py::test_an_sd_holds_where_noise_hides_where_in_its_bounds_a_column_lies",
        ("moments/described.py", "z * math.sqrt(self.mean_noise) * _ARC", "0.0 * _ARC"),
    ),
    planted(
        "a limit whose other one is the bound has half of the chance",
        "models/test_describe.py::test_a_limit_has_the_chance_of_both_where_noise_leaves_the_other_at_the_bound",
        ("moments/cell_table.py", "(level, max(2 * level - 1, 0))", "(level, level)"),
    ),
    planted(
        "rows of a cell in a tail may lie at its far end",
        "models/test_describe.py::test_a_limit_is_inside_a_wide_cell_where_the_density_falls_outwards",
        ("moments/cell_table.py", "beside * side * (usual - own) if side else abs(", "abs("),
    ),
    planted(
        "prices just below a whole number are taken for whole numbers",
        "models/test_describe.py::test_limits_of_quantiles_hold_prices_just_below_a_whole_number",
        ("moments/cell_table.py", "math.floor(places) - _BELOW", "math.floor(places)"),
    ),
    planted(
        "a line that bends stays where its short rows put it",
        CURVES + "test_a_line_of_a_column_that_bends_is_moved_to_least_squares",
        (GRAM, "moments.moved(curves.shift(radius))", "moments"),
    ),
    planted(
        "a line is moved away from least squares",
        CURVES + "test_a_line_of_a_column_that_bends_is_moved_to_least_squares",
        (
            "estimators/gram/curves.py",
            "self.moved(radius) @ self._known)",
            "-self.moved(radius) @ self._known)",
        ),
    ),
    planted(
        "a bend that may be chance moves a line in full",
        CURVES + "test_a_line_is_moved_by_the_share_of_a_bend_that_chance_leaves",
        ("estimators/gram/curves.py", "self.moved(radius) @ self._known)", "self.moved(radius).sum(axis=1))"),
    ),
    planted(
        "counts of long rows do not tell where the rows of a column lie",
        CURVES + "test_rows_that_a_fit_counted_are_in_the_laws_of_its_columns",
        ("estimators/gram/curves.py", "others)._with(long, 1 + chosen, ends)", "others)"),
    ),
    planted(
        "long rows that octaves show are counted twice",
        CURVES + "test_counted_rows_that_octaves_show_are_not_counted_twice",
        ("estimators/gram/curves.py", "long.shares[axes] - seen", "long.shares[axes]"),
    ),
    planted(
        "long rows lie on the side to which no column is skewed",
        CURVES + "test_counted_rows_lie_where_the_column_is_skewed_to_and_bounds_leave_room",
        ("estimators/gram/curves.py", "self.mean(self.at**3) > 0", "self.mean(self.at**3) < 0"),
    ),
    planted(
        "log sigma rests on the bulk where a line bends",
        "models/test_survreg_signs.py::"
        + "test_where_a_line_bends_log_sigma_is_not_that_of_the_bulk_alone[3.0]",
        ("estimators/location_scale/bent_line.py", "moved[p:, p:] = of_line**2 +", "moved[p:, p:] ="),
    ),
    planted(
        "fits by signs do not look for bends",
        "models/test_survreg_signs.py::"
        + "test_an_effect_of_a_skewed_dose_that_levels_off_is_not_silently_off[2000-1]",
        ("estimators/location_scale/driver.py", "any_skewed(scale)", "False"),
    ),
    planted(
        "fits by signs look along all columns that may be skewed",
        BENT_TIMES + "test_by_signs_ordinary_columns_pay_for_no_look",
        (BENT, "_LOOSELY = 1.5, 16.0", "_LOOSELY = 0.7, 0.0"),
    ),
    planted(
        "columns that may hold one value are not looked at by signs",
        BENT_TIMES + "test_by_signs_a_column_is_looked_at_that_may_hold_one_value_alone",
        (BENT, "(by_signs & ~scale.unknown)", "(by_signs & ~scale.hardly_varies)"),
    ),
    planted(
        "rows of signs are taken to be shortened twice",
        BENT_TIMES + "test_by_signs_rows_are_shortened_once",
        (BENT, "0.5 if once else 1.0", "1.0"),
    ),
    planted(
        "a bend that noise hides is in no interval",
        ONE_BEND + "test_of_a_sum_that_is_all_noise_half_of_what_a_bend_may_do_is_left",
        (ONCE, "chances[:-1] *= 1 / len(self.sums)", "chances[:-1] = 0.0"),
    ),
    planted(
        "a sum that is seen is one of the bends that were reckoned",
        BENT_TIMES + "test_a_line_is_moved_to_that_of_all_rows_wherever_an_effect_bends",
        (ONCE, "        sd = math.hypot(sd, CROOKED * found)\n", ""),
    ),
    planted(
        "of effects that bend maximum likelihood is least squares",
        ONE_BEND + "test_the_line_is_that_of_maximum_likelihood",
        (ONCE, "for _ in range(_STEPS)", "for _ in range(0)"),
    ),
    planted(
        "a look that would have seen a bend excludes none",
        BENT_TIMES + "test_what_a_look_cannot_exclude_is_in_the_interval_and_what_it_excludes_is_not",
        (ONCE, "chances = np.exp(logs - logs.max())", "chances = np.ones(len(logs))"),
    ),
    planted(
        "rows are watched for as long, whatever their hazard",
        ONE_BEND + "test_scores_of_log_hazards_are_those_of_weibull_times",
        (ONCE, "np.multiply.outer(np.exp(_OFFSETS),", "np.multiply.outer(np.ones_like(_OFFSETS),"),
    ),
    planted(
        "effects bend where few rows lie",
        ONE_BEND + "test_bends_lie_towards_the_long_rows",
        (ONCE, "up = math.copysign(1.0, shares @ at**3)", "up = 1.0"),
    ),
    planted(
        "an effect ends where its line is flat alone",
        ONE_BEND + "test_the_steeper_a_line_the_more_of_its_effect_may_end",
        (ONCE, "np.hypot(_UNITS / sd, rise)", "np.hypot(_UNITS / sd, 0.0)"),
    ),
    planted(
        "rows that a steep line expects to live long are watched as long as others",
        ONE_BEND + "test_rows_are_watched_to_one_time_by_which_as_many_fail_as_do",
        (ONCE, "self.up * rise * at", "0.0 * at"),
    ),
    planted(
        "no step to the line of effects that bend moves a far row farther than any",
        ONE_BEND + "test_a_line_is_found_where_a_few_rows_lie_far_away",
        (ONCE, "np.where(on, 2.0, 0.25)", "1.0"),
    ),
    planted(
        "rows are as long as their squares where those that fail lie far from the middle",
        BENT_TIMES + "test_rows_are_as_long_as_their_distance_from_the_middle_of_those_that_fail",
        (BENT, "np.column_stack([np.ones_like(at), root * at])", "np.column_stack([0.0 * at, root * at])"),
    ),
    planted(
        "a column is not looked at where failures do not tell how far it varies",
        BENT_TIMES + "test_a_column_that_surely_varies_is_looked_at_though_failures_do_not_tell_how_far",
        (BENT, "scale.varies | (", "~scale.hardly_varies | ("),
    ),
    planted(
        "by signs an effect bends by little",
        "models/test_survreg_signs.py::test_intervals_hold_what_a_look_cannot_exclude_where_an_effect_bends",
        (ONCE, "3.0]), 0.3", "3.0]), 0.03"),
    ),
    planted(
        "what chance may make of a sum moves a line",
        BENT_TIMES + "test_a_look_that_tells_nothing_leaves_odds_of_a_third_or_even_ones_by_signs",
        (BENT, "\n_ODDS = 1 / 3", "\n_ODDS = 1e9"),
    ),
    planted(
        "noise hides rows in the next octave alone",
        BENT_TIMES + "test_what_is_not_seen_lies_where_bounds_leave_room_for_it",
        (BENT, "_OCTAVES = 12", "_OCTAVES = 1"),
    ),
    planted(
        "a look has as much of the budget where noise hides bends of skewed columns",
        BENT_TIMES + "test_a_look_takes_more_of_the_budget_where_columns_are_skewed_and_noise_hides_bends",
        (BENT, "min(max(size, cost), 2 * cost)", "cost"),
    ),
    planted(
        "rows that noise may hide are none",
        BENT_TIMES + "test_rows_that_noise_may_hide_move_a_line_where_bounds_leave_room_for_them",
        (BENT, "+ missed * (ends > seen * (1 + ROUNDING))", ""),
    ),
    planted(
        "rows that noise may hide lie beyond the bounds",
        BENT_TIMES + "test_rows_that_noise_may_hide_move_a_line_where_bounds_leave_room_for_them",
        (BENT, "missed * (ends > seen * (1 + ROUNDING))", "missed"),
        (BENT, "np.clip(OCTAVE * seen, 1.0, np.maximum(ends, 1.0))", "np.maximum(OCTAVE * seen, 1.0)"),
    ),
    planted(
        "last digits decide whether rows lie beyond the declared end (survreg)",
        BENT_TIMES + "test_last_digits_do_not_decide_whether_rows_lie_beyond_the_declared_end",
        (BENT, "ends > seen * (1 + ROUNDING)", "ends > seen"),
    ),
    planted(
        "rows are as long as if all of them weighed as much",
        BENT_TIMES + "test_lengths_are_those_of_rows_whitened_as_they_were_weighted",
        (BENT, "np.linalg.pinv(block)", "np.eye(len(own))"),
    ),
    planted(
        "long rows lie on the side to which no column is skewed, of times",
        BENT_TIMES + "test_rows_that_noise_may_hide_move_a_line_where_bounds_leave_room_for_them",
        (
            BENT,
            "near) > 0, 1.0, -1.0)",
            "near) > 0, -1.0, 1.0)",
        ),
    ),
    planted(
        "no bounds say that long rows lie on one side",
        BENT_TIMES + "test_columns_are_looked_at_that_are_skewed_by_counts_or_bounds",
        (BENT, "    skewed |= (2 > _SKEWED * np.abs(near)) | (scale.sided[chosen] > room)\n", ""),
    ),
    planted(
        "columns of which few octaves are seen are normal",
        BENT_TIMES + "test_what_is_not_seen_of_a_column_has_a_gamma_law_from_its_near_end",
        (COLUMNS_LAW, "np.where(np.isinf(near), special.ndtri(chances), gamma)", "special.ndtri(chances)"),
    ),
    planted(
        "columns of which few octaves are seen are skewed to where their end is",
        BENT_TIMES + "test_what_is_not_seen_of_a_column_has_a_gamma_law_from_its_near_end",
        (COLUMNS_LAW, "gamma = np.sign(near) * (", "gamma = -np.sign(near) * ("),
    ),
    planted(
        "rows that noise may hide make columns skewed",
        BENT_TIMES + "test_columns_are_looked_at_that_are_skewed_by_counts_or_bounds",
        (BENT, "((0.0, 1), (by_next, 1)", "((missed, 1), (by_next, 1)"),
    ),
    planted(
        "fits under pure epsilon do not look for bends",
        "models/test_bent_times.py::test_under_pure_epsilon_bends_are_told_and_their_slopes_held",
        (
            "estimators/location_scale/pure.py",
            "        result = straightened(*self.place, costs_of(self._plan), result)\n",
            "",
        ),
    ),
    planted(
        "bends of columns far from 0 move their intercepts alone",
        "models/test_far_from_0.py::test_a_column_far_from_0_has_the_fit_of_the_shifted_column[lognormal-x-0]",
        (
            "estimators/location_scale/bent_line.py",
            "user @ tied.T",
            "np.linalg.pinv(tied @ np.linalg.inv(user))",
        ),
    ),
    planted(
        "long rows that hold a column's variance are counted, and intervals do not know of them",
        "estimators/test_lengths.py::test_a_line_may_lose_what_long_rows_hold_of_a_slope",
        ("estimators/gram/lengths.py", "np.diag(pull[:, 0])", "np.diag(0 * pull[:, 0])"),
    ),
    planted(
        "all rows near the limit may be on one side, whatever they say",
        "estimators/test_far.py::test_near_rows_that_lean_nowhere_beyond_noise_are_likelier_on_both_sides_than_on_one",
        ("estimators/gram/far.py", "np.arange(_PARTS + 1) / _PARTS", "np.ones(_PARTS + 1)"),
    ),
    planted(
        "lines with even chances have intervals as if all were others in long rows",
        "estimators/test_lengths.py::test_intervals_hold_95_per_cent_of_lines_half_of_which_are_others_in_long_rows",
        ("estimators/gram/lengths.py", "_STRAIGHT, _CHANGES = 0.5,", "_STRAIGHT, _CHANGES = 0.0,"),
    ),
    planted(
        "noise of the matrix is weight that a line has lost",
        "models/test_bends.py::test_noise_of_a_matrix_is_no_lost_weight_of_a_line_that_bends",
        (
            GRAM,
            "1 - mean_weight(len(place.line), bounds.radius) + long.lost(bounds.radius)",
            "1 - float(moments.constant @ moments.gram @ moments.constant) / moments.share",
        ),
    ),
    planted(
        "under pure epsilon lengths are chosen as if all rows were normal",
        "estimators/test_lengths.py::test_a_skewed_column_is_known_better_where_its_long_rows_count_under_pure_epsilon",
        ("estimators/gram/pure.py", "bent = may_bend(long, curves, place)", "bent = None"),
    ),
    planted(
        "a response that noise hides has very long intervals and no caution",
        "models/test_spike.py::test_a_response_that_seems_constant_within_its_bounds_is_said_to_be_hidden",
        ("moments/linear.py", "if self.clipping.guessed else found", "if not found else found"),
    ),
    planted(
        "rows that lack a value are taken for weight that long rows have lost",
        "models/test_linear_missing.py::test_missing_cells_cost_no_more_than_their_rows",
        (
            "estimators/row_scale.py",
            "return min(self.fraction + SURE * self.fraction_sd, 1.0)",
            "return 1.0",
        ),
    ),
    planted(
        "residuals that are the spread of a response of one value are counted, and clipped all the same",
        "models/test_spike.py::test_intervals_hold_and_are_of_use",
        ("estimators/gram/reach.py", "errors=errors, tail=tail, told=told)", "errors=errors, told=told)"),
    ),
    planted(
        "each pilot of rare amounts is told from what the one before has left",
        "models/test_spike.py::test_rare_amounts_that_pilots_clip_are_not_lost",
        ("estimators/gram/tail.py", "if square >= MOST_SQUARE or", "if square >= 0 or"),
    ),
    planted(
        "a line that fits all but few rows exactly clips these, each pilot nearer than the one before",
        "models/test_spike.py::test_a_line_that_fits_all_but_few_rows_exactly_does_not_clip_these",
        ("estimators/gram/reach.py", "_COLLAPSED = 0.2", "_COLLAPSED = 0.0"),
    ),
    planted(
        "of a line that explains nearly all more budget makes residuals larger",
        "models/test_more_budget.py::test_more_budget_makes_no_standard_error_longer",
        ("estimators/gram/reach.py", ' and release.law != "gaussian"', ""),
    ),
    planted(
        "noise hides more rows than there are",
        "models/test_linear_noisy.py::test_a_line_of_noise_alone_errs_no_more_than_no_line",
        ("estimators/gram/reach.py", "min(hidden, NEARLY_ALL**-2)", "hidden"),
    ),
    planted(
        "far rows are as little known as if none were told when limits are chosen",
        "estimators/test_reach.py::test_limits_are_nearer_where_far_rows_are_told_and_farther_the_less_noise_there_is",
        ("estimators/gram/bounds.py", "residuals.missing(limits)", "lost_of_mean(limits)"),
    ),
    planted(
        "a pilot's line is taken for one of residuals that are not clipped, along the constant",
        "estimators/test_gram_doubt.py::test_a_line_of_clipped_residuals_is_off_along_the_constant_if_they_are_skewed",
        (
            "estimators/gram/coordinates.py",
            "if self.constant is not None:\n            more",
            "if False:\n            more",
        ),
    ),
    planted(
        "sigma is told from what a near limit leaves",
        "models/test_linear_limits.py::test_rows_that_a_near_limit_takes_make_no_interval_long",
        ("estimators/gram/coordinates.py", "max(tail.beyond(limit), taken)", "tail.beyond(limit)"),
    ),
    planted(
        "a near limit of the last pilot is no gain",
        "models/test_linear_limits.py::test_a_near_limit_of_the_last_pilot_makes_slopes_better",
        ("estimators/gram/bounds.py", "\nNEAR = 2.0", "\nNEAR = 3.0"),
    ),
    planted(
        "rows of a spline are weighted away where noise would not hide them",
        "models/test_loose_bounds.py::"
        "test_means_of_a_spline_whose_number_fills_its_bounds_are_nearly_as_sure_as_without_privacy",
        ("estimators/gram/coordinates.py", "square = self._with_heights(", "self._with_heights("),
    ),
    planted(
        "rows of a spline are shortened though noise then hides some of them",
        "estimators/test_gram_doubt.py::"
        "test_rows_of_a_spline_are_no_longer_than_the_longest_row_if_noise_then_hides_no_place[1.01]",
        ("estimators/gram/coordinates.py", "(self._edge * ahead)).any()", "(self._edge * ahead)).all()"),
    ),
    planted(
        "pilots are forgotten wherever a column varies",
        "estimators/test_gram_doubt.py::test_pilots_are_forgotten_where_a_column_has_surely_less_than_its_scale",
        ("estimators/gram/coordinates.py", "(square + least < _LESS)", "(square > least)"),
    ),
    planted(
        "times of a survival curve are advised wherever few are left",
        "models/test_kaplan_meier.py::test_no_times_are_advised_where_noise_hides_nearly_all_rows_at_any",
        ("moments/interval_counts.py", "left - sd > FEWEST * np.sqrt(self.noise[-1])", "left > -np.inf"),
    ),
    planted(
        "a plan takes a few fits for sure whose ratios differ",
        "planning/test_plan.py::test_a_few_fits_tell_what_effects_do_only_where_their_ratios_agree",
        ("planning/trials.py", "<= _KNOWN * math.sqrt(len(logs))", "<= np.inf"),
    ),
    planted(
        "a plan takes what fits add where they doubt their model for what is left without noise",
        "planning/test_search.py::test_what_fits_that_doubt_their_model_add_is_not_left_without_noise",
        ("planning/trials.py", "self.half_width * np.sqrt(1 - self.share))", "self.half_width)"),
    ),
    planted(
        "types of censoring that are plain make another formula",
        "ledger/test_reuse.py::test_every_response_has_one_spelling_and_none_has_that_of_another",
        ("formula/response.py", 'if kind in ("interval2", "left"):', "if True:"),
    ),
    planted(
        "limits of a survival curve take the noise of pure epsilon for normal",
        "models/test_kaplan_meier.py::test_limits_under_pure_epsilon_count_the_tails_of_its_noise",
        ("results/curve_estimates.py", "    if laplace:\n", "    if False:\n"),
    ),
    planted(
        "limits of a survival curve take failures between two times as even",
        "results/test_curve_estimates.py::test_limits_between_two_times_are_those_about_them",
        (
            "results/curve_estimates.py",
            "self.low[before], self.high[after]",
            "np.interp(inside, self.times, self.low), np.interp(inside, self.times, self.high)",
        ),
    ),
    planted(
        "a first look takes noise for rows that leave",
        "models/test_kaplan_meier.py::test_times_are_even_where_a_look_tells_nothing_and_found_where_it_tells_much",
        ("estimators/exit_times.py", "(beyond**2 / variance - 1) / (SURE**2 - 1)", "1.0"),
    ),
    planted(
        "a curve of a subset has as many times as one of all rows",
        "models/test_kaplan_meier.py::test_times_of_few_rows_do_not_cluster_where_noise_stands_out",
        ("estimators/exit_times.py", "max(release.n - surely * missing, 0.0)", "release.n"),
    ),
    planted(
        "errors by when rows are censored within intervals cancel out",
        "models/test_kaplan_meier.py::test_limits_hold_where_times_are_rounded_up_and_times_of_the_grid_are_others",
        (
            "moments/interval_counts.py",
            "np.abs(later) @ self.changing",
            "np.sqrt(later**2 @ self.changing**2)",
        ),
    ),
    planted(
        "files that changed are read by their old rows, and charged",
        "rows/test_parts.py::test_so_is_one_beside_a_frame",
        ("curator/curator.py", "self._rows.hold()", "pass"),
    ),
    planted(
        "a survival curve goes on where noise is all that is left",
        "models/test_kaplan_meier.py::test_where_few_are_left_nothing_is_said",
        ("moments/interval_counts.py", "FEWEST = 5.0", "FEWEST = 0.5"),
    ),
    planted(
        "the error of a cumulative hazard is that of its noise alone",
        "models/test_kaplan_meier.py::test_both_scales_have_errors_of_sampling_and_noise",
        ("results/survival_curve.py", '"hazard_error": errors.se,', '"hazard_error": errors.se_privacy,'),
    ),
    planted(
        "a delta by which a row in n may leak whole",
        "models/test_svm.py::test_refusals",
        ("models/skeleton.py", "if (delta := delta_of(budget)) is not None and delta > 1 / n:", "if False:"),
    ),
    planted(
        "private data pass as public= (linear)",
        "models/test_public_apart.py",
        ("models/linear.py", "        check_apart(public, data)\n", ""),
    ),
    planted(
        "private files in a list pass as public=",
        "models/test_public_apart.py::test_a_file_is_known_in_a_list",
        ("rows/rows.py", "        yield data.identity\n", "        return\n"),
    ),
    planted(
        "private data pass as public= (glm)",
        "models/test_public_apart.py",
        ("models/glm.py", "        check_apart(public, data)\n", ""),
    ),
    planted(
        "a model is pickled with its rows",
        "models/test_pickle.py",
        ("_private.py", "def __reduce_ex__(self, protocol: object)", "def refused(self, protocol: object)"),
    ),
    planted(
        "a sum of coefficients has the law of one",
        "results/test_contrasts.py::test_several_coefficients_together_have_a_normal_law",
        (
            "results/wald.py",
            "alone = (matrix != 0).sum(axis=1) == 1",
            "alone = (matrix != 0).sum(axis=1) >= 1",
        ),
    ),
    planted(
        "what a correction may lack is left out (logit, pure)",
        f"{CORRECTION}what_a_correction_may_lack_is_uncertain",
        (BIAS, " + np.outer(left, left)", ""),
    ),
    planted(
        "noise of the curvature is left out (logit, pure)",
        f"{CORRECTION}noise_of_the_curvature_is_noise_of_the_correction",
        (BIAS, "more=by_curvature + guess + larger,", "more=guess + larger,"),
    ),
    planted(
        "a log-likelihood that covariates have brought to 0 tells nothing (glm)",
        "models/test_glm.py::test_a_number_that_tells_whether_there_is_any_is_separated",
        (
            "estimators/newton/check.py",
            "told = tells or endless or left.share + SURE * left.sd",
            "told = tells or 1 + left.share",
        ),
    ),
    planted(
        "groups of amounts that are more skewed are not priced (gamma)",
        "estimators/test_unlike.py::test_means_of_groups_of_unlike_skewness_hold",
        ("estimators/newton/unlike.py", "if square - SURE * sd > whole:", "if square < 0:"),
    ),
    planted(
        "groups of counts that scatter more than all are not priced (negative binomial)",
        "estimators/test_unlike.py::test_effects_of_groups_whose_counts_are_mostly_zero_hold",
        ("estimators/newton/unlike.py", "if overdispersion(lowest, score).value > 1:", "if square < 0:"),
    ),
    planted(
        "no column has a far tail (logit, pure)",
        "models/test_bends.py::test_rows_of_a_far_tail_keep_their_weight_under_pure_epsilon",
        (UNIT_BALL, "sum((of_lost * (1 - float(share))) ** 2 for share in kept)", "0.0 * sum(kept)"),
    ),
    planted(
        "long rows have lost nothing (logit, pure)",
        "models/test_bends.py::test_long_rows_are_asked_under_pure_epsilon",
        (DEBIASED, "unturned = replace(read, ", "unturned = replace(read, lost=0.0, "),
    ),
    planted(
        "what noise hides is left out (logit, pure)",
        f"{CORRECTION}what_noise_hides_of_the_curvature_is_as_uncertain_as_before",
        (BIAS, "more=by_curvature + guess + larger,", "more=by_curvature,"),
    ),
    planted(
        "what rests on a lost log sigma is certain where slopes underflow (survreg)",
        "results/test_lost.py::test_what_rests_on_a_lost_sigma_is_lost_beside_a_line_that_is_known",
        ("results/intervals.py", "np.where(lost, 0.0, record.params)", "record.params"),
    ),
    planted(
        "rows that lack a cell are taken for rows (glm)",
        "models/test_unread.py",
        ("estimators/newton/located.py", "        usable=usable,\n", ""),
    ),
    planted(
        "limits of a restricted mean count sampling alone (kaplan_meier)",
        "results/test_curve_estimates.py::test_derivatives_of_the_restricted_mean",
        (
            "results/survival_curve.py",
            "half = half_widths(errors.se, errors.one, level, self.budget.pure).max()",
            "half = half_widths(np.sqrt(errors.se**2 - errors.se_privacy**2), errors.one, level).max()",
        ),
    ),
    planted(
        "a median has limits of 95 % whatever is asked for (kaplan_meier)",
        "results/test_curve_estimates.py::test_limits_of_a_median_and_a_mean_have_the_level_that_is_asked_for",
        ("results/survival_curve.py", "return self.quantile(0.5, level)", "return self.quantile(0.5)"),
    ),
    planted(
        "a quantile in a cell of a long tail is the end of the cell",
        "models/test_describe.py::test_a_quantile_in_a_cell_of_a_long_tail_is_where_a_falling_density_has_it",
        ("moments/cell_table.py", "share = near if falls else 1 - near", "share = 0.0 if falls else 1.0"),
    ),
    planted(
        "factors of acceleration lead to the gentler bound",
        "results/test_accelerated.py::test_stress_is_the_harsher_bound_also_where_the_other_is_farther",
        ("results/reliability.py", "moved[name] = min(variable.bounds", "moved[name] = max(variable.bounds"),
    ),
    planted(
        "a scale whose limits are tens of decades apart has a word on wear",
        "results/test_survival.py::test_limits_twenty_decades_apart_are_not_estimable",
        ("results/intervals.py", "return far or (low in", "return (low in"),
    ),
    planted(
        "predictions stand beside the rows before those that lack a value",
        "results/test_gaps.py",
        ("results/newdata.py", "every.difference(self.left.index)", "every[: len(found)]"),
    ),
    planted(
        "a row that lacks a value is predicted as one at a bound",
        "results/test_gaps.py",
        (
            "formula/newdata.py",
            "~np.any([*empty.values()], axis=0) | (not gaps)",
            "~np.any([*empty.values()], axis=0) | True",
        ),
        (
            "formula/newdata.py",
            "if np.any(where & whole)}",
            "if np.any(where & (not gaps))}",
        ),
    ),
    planted(
        "a word for a missing value stops a prediction",
        "results/test_gaps.py",
        ("formula/newdata.py", "return str.strip(cell).casefold() in _WORDS", "return False"),
    ),
    planted(
        "a dict of a schema that declares the column of its unit protects one row",
        "test_schema_unit.py::test_each_mistake_is_named",
        (
            "schema/schema.py",
            "parts = (*([self._unit] if self._unit.column else []), *self._norms)",
            "parts = self._norms",
        ),
    ),
    planted(
        "a ledger does not say which law a fit has",
        "privacy/test_every_charge.py::test_the_whole_cost_is_charged_before_the_first_draw_and_stays[survreg-weibull-newton-zcdp]",
        ("models/skeleton.py", 'method=f"{model}, {method}"', "method=method"),
    ),
    *(
        planted(
            f"limits have not the quantile that is asked for, or not the error that is stated ({where})",
            f"results/test_limits.py::test_limits_{found}",
            (f"results/{file}.py", old, new),
        )
        for where, found, file, old, new in (
            (
                "sds of columns",
                "are_quantiles_of_the_stated_error",
                "column_moments",
                "        factor = np.exp(z * found.sd_error)\n",
                "        factor = np.exp(z * np.sqrt(np.maximum(found.sd_error**2 - found.sd_noise**2, 0)))\n",
            ),
            (
                "correlations of columns",
                "are_quantiles_of_the_stated_error",
                "column_moments",
                "max(rho - z * error, -1.0), min(rho + z * error, 1.0)",
                "*np.clip(rho + np.array([-z, z]) * max(error**2 - noises[i, j] ** 2, 0) ** 0.5, -1, 1)",
            ),
            (
                "changes of hazards",
                "are_quantiles_of_the_stated_error",
                "survival_hazards",
                "change, half = np.where(known, trend.change, np.nan), critical(level)",
                "change, half = np.where(known, trend.change, np.nan), critical(0.95)",
            ),
            (
                "rivals",
                "are_quantiles_of_the_stated_error",
                "survival_tables",
                "half = [critical(level) * sd for",
                "half = [critical(level) * sd / 2 for",
            ),
            (
                "R-squared",
                "are_quantiles_of_the_stated_error",
                "intervals",
                "_log_limits(1 - found.value, found.se, level)",
                "_log_limits(1 - found.value, found.se, 0.95)",
            ),
            (
                "the clock of hazards",
                "of_hazards_hold_what_noise_of_the_clock_may_be",
                "survival_hazards",
                "moved = critical(level) * np.sqrt(np.expm1(clock))",
                "moved = critical(level) * np.sqrt(np.expm1(clock)) / 2",
            ),
        )
    ),
)

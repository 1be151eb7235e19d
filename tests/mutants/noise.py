# ruff: noqa: E501 - the texts that are replaced stand as they are
"""Faults of the noise, of the exact sums and of what the curator charges."""

from tests.mutants.mutant import planted

CURATOR, ACCOUNT, PRIVATE = "curator/curator.py", "curator/account.py", "_private.py"
LAW, LATTICE = "curator/law.py", "curator/lattice.py"
NOISE, KNORM, WISHART = "curator/mechanisms.py", "curator/knorm.py", "curator/wishart.py"
SAMPLE, GAUSSIAN = "curator/blocks.py", "estimators/location_scale/gaussian.py"

MUTANTS = (
    planted(
        "every fourth row in the place of rows drawn by coins: what is drawn depends on where others stand",
        "curator/test_sample.py::test_places_are_drawn_alike_and_apart",
        (
            SAMPLE,
            "np.frombuffer(coins(rows.n), dtype=np.uint8) < math.ceil(_SIDES * share)",
            "np.arange(rows.n) % round(1 / share) == 0",
        ),
    ),
    planted(
        "coins of a seeded generator",
        "curator/test_sample.py::test_places_are_drawn_alike_and_apart",
        (
            NOISE,
            "staticmethod(secrets.token_bytes)",
            "staticmethod(lambda count: np.random.default_rng(count).bytes(count))",
        ),
    ),
    planted(
        "coins by what rows are: a changed record changes who else is drawn",
        "curator/test_sample.py::test_no_pair_of_neighbours_passes_the_sensitivity",
        (
            SAMPLE,
            "        self.n: int = int(np.count_nonzero(self._drawn))",
            "        whole = next(rows.blocks(rows.n))\n"
            "        self._drawn = np.roll(self._drawn, int(1e6 * np.sum(whole['x'])) % rows.n)\n"
            "        self.n: int = int(np.count_nonzero(self._drawn))",
        ),
    ),
    planted(
        "averaged steps to a root of times are of the rows that early steps have seen",
        "curator/test_sample.py::test_early_steps_to_a_root_are_of_some_rows_and_the_others_of_all",
        (GAUSSIAN, "            self.curator = self._all\n", "            pass\n"),
    ),
    planted(
        "averaged steps of a generalised linear model are of the rows that early steps have seen",
        "curator/test_sample.py::test_early_steps_to_a_root_are_of_some_rows_and_the_others_of_all",
        ("estimators/newton/iterate.py", "            self.curator = self._all\n", "            pass\n"),
    ),
    planted(
        "how counts scatter is asked of some rows where their alpha is sought, too",
        "curator/test_sample.py::test_how_counts_scatter_is_asked_of_the_rows_of_early_steps_unless_an_alpha_is_sought",
        (
            "estimators/newton/iterate.py",
            " and self.chooser.problem.family.seek is None:",
            ":",
        ),
    ),
    planted(
        "early steps to a rare answer are of as many rows as to a frequent one",
        "curator/test_sample.py::test_of_a_rare_answer_early_steps_read_more_rows",
        (
            "estimators/newton/located.py",
            "return self.usable * problem.family.level_at(self.mean)",
            "return problem.family.most_curved",
        ),
    ),
    planted(
        "a sample has an account of its own",
        "curator/test_sample.py::test_the_account_is_that_of_all_rows",
        (
            CURATOR,
            'vars(other).update(vars(self) | own | {"_scratch": {}})',
            'account = Account(self._account._budget, self.unit.short) if "_rows" in own else self._account\n'
            '        vars(other).update(vars(self) | own | {"_scratch": {}, "_account": account})',
        ),
    ),
    planted(
        "float noise instead of OpenDP's (diffprivlib, IBM#94)",
        "privacy/test_floating_point.py::test_the_precision_attack_fails_on_ours",
        (
            NOISE,
            "    lattice, scale = _cells(vector.size, sensitivity, mu)\n",
            "    return vector + np.random.default_rng().normal(scale=sensitivity / mu, size=vector.size)\n",
        ),
    ),
    planted(
        "the lattice of Gaussian noise is not paid for",
        "privacy/test_noise_law.py::test_the_proved_map_never_exceeds_the_cost",
        (NOISE, "math.ldexp(sensitivity, -lattice) + math.sqrt(size)", "math.ldexp(sensitivity, -lattice)"),
    ),
    planted(
        "the lattice moves a vector by a cell for all of its coordinates",
        "privacy/test_noise_law.py::test_neighbours_on_the_lattice_are_no_farther_apart_than_is_charged",
        (NOISE, "-lattice) + math.sqrt(size)", "-lattice) + 1"),
    ),
    planted(
        "Gaussian noise for more than 64 bits where it is wide",
        "privacy/test_noise_law.py::test_the_proved_map_never_exceeds_the_cost",
        (NOISE, "lattice = max(min(", "lattice = min(min("),
    ),
    planted(
        "Gaussian noise of 0.95 of its sd",
        "privacy/test_noise_law.py::test_the_law_of_the_noise",
        (NOISE, "* (1 + 2.0**-46)", "* 0.95"),
    ),
    planted(
        "noise of the largest coordinate falls on one end of its range less often",
        "privacy/test_sampler_paths.py::test_a_vector_in_a_cube_has_its_law[1-4]",
        (
            KNORM,
            "return [randbelow(2 * k + 1) - k for _ in range(m)]",
            "return [randbelow(2 * k) - k for _ in range(m)]",
        ),
    ),
    planted(
        "a geometric number without what is whole of it",
        "privacy/test_sampler_paths.py::test_a_geometric_number_has_its_law[2-3]",
        (KNORM, "return (rest + bottom * whole) // top", "return rest // top"),
    ),
    planted(
        "a size below the least is kept for noise of a ball",
        "privacy/test_sampler_paths.py::test_a_vector_in_a_ball_has_its_law[spherical-2]",
        (KNORM, "if size < _LEAST or not all(", "if not all("),
    ),
    planted(
        "the rounding of a vector is paid for as that of one with fewer coordinates",
        "privacy/test_sampler_paths.py::test_rounding_is_paid_for_by_the_least_integer_that_holds_it[spherical]",
        (KNORM, "math.isqrt(m - _BALL[law] - 1) + 1", "math.isqrt(m - _BALL[law] - 2) + 1"),
    ),
    planted(
        "a seed of one byte (AMP's reference code)",
        "privacy/test_seeds.py::test_noise_does_not_come_again",
        (
            KNORM,
            "    if law in _BALL:\n        return _in_balls",
            "    import os, random\n    global randbelow\n    randbelow = random.Random(os.urandom(1)[0]).randrange\n"
            "    if law in _BALL:\n        return _in_balls",
        ),
    ),
    planted(
        "a seed from an environment variable",
        "curator/test_randomness.py::test_noise_has_no_source_but_the_systems",
        (
            NOISE,
            "    lattice, scale = _cells(",
            "    import os\n    if os.environ.get('DPSTATS_SEED'):\n"
            "        draw = np.random.default_rng(int(os.environ['DPSTATS_SEED']))\n"
            "        return value + draw.normal(scale=sensitivity / mu, size=len(value))\n"
            "    lattice, scale = _cells(",
        ),
    ),
    planted(
        "Laplace noise whose zero comes twice",
        "privacy/test_pure_law.py::test_small_integers_have_their_exact_probabilities",
        (KNORM, "if size or not negative:", "if True:"),
    ),
    planted(
        "noise of a cube that is never rejected",
        "privacy/test_pure_law.py::test_small_integers_have_their_exact_probabilities",
        (KNORM, "if all(randbelow(2 * k + 2 * i) <= 2 * k for i in range(1, m + 1)):", "if True:"),
    ),
    planted(
        "noise of a matrix has a degree of freedom less, so that its density rises towards singular ones",
        "privacy/test_wishart.py::test_the_law_of_the_noise",
        (WISHART, "[_Normal() for _ in range(k + 1)]", "[_Normal() for _ in range(k)]"),
    ),
    planted(
        "digits of normal numbers that are not known count as 0",
        "privacy/test_wishart.py::test_what_few_digits_tell_more_digits_do_not_take_back",
        (WISHART, "if (low == high).all() else None", ""),
    ),
    planted(
        "eigenvalues of a difference are those of one row for a unit of several",
        "privacy/test_wishart.py::test_a_unit_of_several_rows_has_all_its_noise_times_its_rows",
        (LAW, "trace = max_rows * (statistic.sensitivity_trace", "trace = (statistic.sensitivity_trace"),
    ),
    planted(
        "eigenvalues of a difference are taken for those of one row",
        "privacy/test_worst_case.py::test_the_search_reaches_the_trace_and_never_passes_it[event_matrix-0-1]",
        (
            "curator/statistics/moments.py",
            "math.sqrt(2) * limit**2, 2 * limit**2",
            "math.sqrt(2) * limit**2, limit**2",
        ),
    ),
    planted(
        "a row that is switched off is counted",
        "curator/test_lattice.py::test_columns_that_are_numbered_are_counted_as_ones_would_be_summed",
        (LATTICE, "right if row.all() else right[row]", "right"),
    ),
    planted(
        "a number of a column beyond the last is believed",
        "curator/test_lattice.py::test_no_number_of_a_column_leads_beyond_the_last",
        (LATTICE, "return np.clip(cells, 0, columns - 1) if", "return np.abs(cells) if"),
    ),
    planted(
        "rounding to the lattice of pure epsilon is not paid for (Mironov)",
        "privacy/test_pure_law.py::test_the_noise_is_drawn_at_the_rate_that_pays_for_rounding",
        (KNORM, "Fraction(epsilon) / (scale + _rounding(law, vector.size))", "Fraction(epsilon) / scale"),
    ),
    planted(
        "cube noise for half of the ranges",
        "privacy/test_pure_releases.py::test_neighbours_lie_within_every_law_that_may_be_chosen",
        (LAW, '("linf", ranges),', '("linf", ranges / 2),'),
    ),
    planted(
        "Laplace scales of their own that spend epsilon for each coordinate",
        "privacy/test_pure_releases.py::test_neighbours_lie_within_every_law_that_may_be_chosen",
        (LAW, '("laplace", np.cbrt(ranges) * np.sum(np.cbrt(ranges) ** 2) * RAISED)', '("laplace", ranges)'),
    ),
    planted(
        "the lattice's slack is left out of a sensitivity",
        "curator/test_lattice.py::test_rounding_is_part_of_every_sensitivity",
        (LAW, "extra = slack(statistic.parts, n)", "extra = 0 * slack(statistic.parts, n)"),
    ),
    planted(
        "sensitivity of one row for a unit of several",
        "privacy/test_every_replay.py::test_a_unit_that_is_replaced[ols-gram-zcdp]",
        (
            CURATOR,
            "Sensitivity.of(statistic, self.n, self.unit.max_rows)",
            "Sensitivity.of(statistic, self.n, 1)",
        ),
    ),
    planted(
        "ranges of one row for a unit of several",
        "privacy/test_every_charge.py::test_the_whole_cost_is_charged_before_the_first_draw_and_stays[kaplan_meier-pure]",
        (
            LAW,
            "np.minimum(ranges, max_rows * (declared * RAISED + extra))",
            "np.minimum(ranges, declared * RAISED + extra)",
        ),
        (LAW, "l1 = min(l1, max_rows * (statistic", "l1 = min(l1, (statistic"),
        (LAW, "l2 = max_rows * (statistic", "l2 = (statistic"),
    ),
    planted(
        "entries are clipped into a new variable, and the old one is used (SmartNoise DPcovariance)",
        "curator/test_lattice.py::test_a_sum_is_that_of_clipped_entries",
        (
            LATTICE,
            "np.clip(columns[i], -scale[i], scale[i], out=columns[i])",
            "clipped = np.clip(columns[i], -scale[i], scale[i])",
        ),
    ),
    planted(
        "rows that lie apart are taken for no longer than the middle of their block",
        "curator/test_position.py::test_no_product_is_larger_than_is_said[3]",
        ("curator/products.py", "np.abs(self._matrix) @ (half + _MARGIN * reach)", "_MARGIN * reach"),
    ),
    planted(
        "what a statistic says of its entries is not compared with their scale",
        "curator/test_lattice.py::test_entries_are_looked_at_unless_their_statistic_says_that_they_are_within_their_scale",
        (LATTICE, " or not (factor.most <= part.left_scale).all()", ""),
    ),
    planted(
        "a bound of entries has the least curvature of a block in the place of the largest",
        "privacy/test_worst_case.py::test_no_entry_is_larger_than_its_statistic_says",
        ("curator/statistics/glm.py", "root.max() * ROUNDED", "root.min() * ROUNDED"),
    ),
    planted(
        "the ends of columns about a center are those of the columns",
        "curator/test_position.py::test_no_product_of_rows_about_a_center_is_larger_than_is_said",
        ("curator/geometry.py", "entries[self.first :] - self.center)", "entries[self.first :])"),
    ),
    planted(
        "long rows are summed in whatever order BLAS takes",
        "curator/test_position.py::test_products_are_the_sums_in_order[10]",
        ("curator/products.py", "if not (self._sizes @ reach < 1 - _MARGIN).all():", "if False:"),
    ),
    planted(
        "rounding of sums is paid for in the block in which neighbours differ alone",
        "curator/test_lattice.py::test_rounding_is_part_of_every_sensitivity",
        (LATTICE, "(2.0**-30 + n * (", "(2.0**-30 + min(n, MAX_ROWS) * ("),
    ),
    planted(
        "rounding of sums is paid for in one of the two neighbours",
        "curator/test_lattice.py::test_the_slack_pays_for_all_that_was_proved",
        (LATTICE, "n * (2.0**-38 + 2.0**-46)", "n * (2.0**-39 + 2.0**-46)"),
    ),
    planted(
        "the lattice and the conversion of sums are not paid for",
        "curator/test_lattice.py::test_the_slack_pays_for_all_that_was_proved",
        (LATTICE, "n * (2.0**-38 + 2.0**-46)", "n * 2.0**-38"),
    ),
    planted(
        "the arithmetic of a statistic is not paid for",
        "curator/test_lattice.py::test_the_slack_pays_for_all_that_was_proved",
        (LATTICE, "2.0**-30 + n", "2.0**-60 + n"),
    ),
    planted(
        "cells of a lattice that is coarser than its proof",
        "curator/test_lattice.py::test_no_block_is_worse_than_the_bound",
        (LATTICE, "_CELL_BITS = 48", "_CELL_BITS = 28"),
    ),
    planted(
        "cells so fine that the sum of a full block is no integer of 64 bits",
        "curator/test_lattice.py::test_many_full_blocks_do_not_overflow_a_limb",
        (LATTICE, "_CELL_BITS = 48", "_CELL_BITS = 51"),
    ),
    planted(
        "a block is summed in floats of 32 bits",
        "curator/test_lattice.py::test_no_block_is_worse_than_the_bound",
        (
            LATTICE,
            "np.dot(columns[: last + 1], columns[last])",
            "np.dot(columns[: last + 1].astype('f'), columns[last].astype('f'))",
        ),
    ),
    planted(
        "a NaN beside a zero is left to BLAS",
        "curator/test_lattice.py::test_a_nan_is_seen_whatever_blas_makes_of_it_and_zero",
        (LATTICE, " or (self._beyond and _may_hide_nan(pairs)):", ":"),
    ),
    planted(
        "a NaN is not looked for where no entry is beyond its scale, and NaN is taken for none",
        "curator/test_lattice.py::test_a_nan_is_seen_whatever_blas_makes_of_it_and_zero",
        (LATTICE, "            self._beyond = True\n", ""),
    ),
    planted(
        "a row that one statistic switches off stays off for the next",
        "curator/test_lattice.py::test_a_row_that_is_switched_off_stays_on_for_the_next_statistic",
        (LATTICE, "return copied", "return columns"),
    ),
    planted(
        "rows that are not valid count",
        "curator/test_lattice.py",
        (LATTICE, "if bad.size:", "if False:"),
    ),
    planted(
        "a release is not charged to the curator's total",
        "curator/test_curator.py::test_what_exceeds_the_total_is_refused_before_a_row_is_read",
        (CURATOR, "self._account.charge(*(", "tuple(("),
    ),
    planted(
        "of releases by one pass the first alone is charged",
        "curator/test_curator.py::test_releases_by_one_pass_are_spent_together_or_not_at_all",
        (CURATOR, "one.law.price) for one in sums))", "one.law.price) for one in sums[:1]))"),
    ),
    planted(
        "the costs of releases by one pass are compared with what is left one by one",
        "curator/test_curator.py::test_releases_by_one_pass_are_spent_together_or_not_at_all",
        (ACCOUNT, "left = self._limit - spent", "left = self._limit - self._spent"),
    ),
    planted(
        "a minimum is not charged to the curator's total",
        "curator/test_objective.py::test_costs_add_up_and_are_spent_first",
        (CURATOR, 'self._account.charge(("minimum", planned.price))', "planned.price"),
    ),
    planted(
        "a release counts as a quarter of its cost, so that the budget is spent twice (diffprivlib, IBM#104)",
        "curator/test_curator.py::test_shares_of_the_total_fit_and_never_overspend",
        (
            ACCOUNT,
            "kind, amount = type(price), self._amount(price)",
            "kind, amount = type(price), self._amount(price) / 4",
        ),
    ),
    planted(
        "shares that overshoot in floats are given whole",
        "privacy/test_floating_point.py::test_shares_that_overshoot_in_floats_are_paid_for",
        (ACCOUNT, "GUARD = 1e-9", "GUARD = -1e-9"),
    ),
    planted(
        "an exact sum is released where it has one entry",
        "privacy/test_every_replay.py::test_a_row_that_is_replaced[logit-newton-zcdp-loglik]",
        (
            CURATOR,
            '        if law.name == "gaussian":\n            return',
            '        if len(exact) == 1:\n            return exact\n        if law.name == "gaussian":\n            return',
        ),
    ),
    planted(
        "matrices behind standard errors are not protected (dp-statsmodels)",
        "privacy/test_every_replay.py::test_a_row_that_is_replaced[logit-auto-pure]",
        (
            CURATOR,
            '        if law.name == "gaussian":\n            return',
            '        if len(exact) > 8:\n            return exact\n        if law.name == "gaussian":\n            return',
        ),
    ),
    planted(
        "seeded noise is not marked as such",
        "curator/test_curator.py::test_only_secure_noise_without_a_recorder_is_private",
        (
            "curator/noise.py",
            "return type(self.noise) is SecureNoise and self.recorder is None",
            "return True",
        ),
    ),
    planted(
        "noise of a class derived from the secure one passes for it",
        "curator/test_curator.py::test_only_secure_noise_without_a_recorder_is_private",
        (
            "curator/noise.py",
            "type(self.noise) is SecureNoise and",
            "isinstance(self.noise, SecureNoise) and",
        ),
    ),
    planted(
        "conversion to floats of sums of very many rows is not paid for",
        "curator/test_lattice.py::test_conversion_to_floats_is_part_of_the_slack",
        (
            LATTICE,
            "(2.0**-30 + n * (2.0**-38 + 2.0**-46))",
            "(2.0**-30 + min(n, 2**20) * (2.0**-38 + 2.0**-46))",
        ),
    ),
    planted(
        "the ball of a cylinder is that of one row for a unit of several",
        "curator/test_lattice.py::test_rounding_is_part_of_every_sensitivity",
        (LAW, "head = max_rows * (statistic.sensitivity_head", "head = (statistic.sensitivity_head"),
    ),
    planted(
        "an exception among rows shows its cause",
        "privacy/test_every_trace.py::test_a_fit_that_fails_among_rows_shows_none[ols-gram-zcdp]",
        (PRIVATE, "        if shown:\n            raise", "        raise"),
    ),
    planted(
        "an exception among rows leaves a frame that leads to them",
        "rows/test_protected.py::test_the_frame_that_protects_rows_lets_go_of_them",
        (PRIVATE, "    del compute  #", "    #"),
    ),
    planted(
        "an exception in minimise is let out",
        "privacy/test_every_trace.py::test_a_fit_that_fails_among_rows_shows_none[svm-objective-pure]",
        (
            CURATOR,
            'protected(\n            lambda: self._minimum(planned),\n            _failed("minimum"),\n            (DataError, WorkError),\n            shown=self.not_private,\n        )',
            "self._minimum(planned)",
        ),
    ),
    planted(
        "an interrupt becomes an error that a loop would catch",
        "privacy/test_every_trace.py::test_a_fit_that_fails_among_rows_shows_none[ols-gram-zcdp]",
        (PRIVATE, "raise _stop(interrupts[0])", "raise RuntimeError(str(interrupts))"),
    ),
    planted(
        "the last rows, which do not fill a block, are left out",
        "privacy/test_every_row.py::test_order_and_blocks_and_other_data[ols-gram-zcdp]",
        (
            "curator/blocks.py",
            "        for columns in self._rows.blocks(self._size):",
            "        for columns in list(self._rows.blocks(self._size))[: max(self._rows.n // self._size, 1)]:",
        ),
        (CURATOR, "if found.count != self.n:", "if False:"),
    ),
    planted(
        "rows about a centre that was asked for before are taken for those about another",
        "curator/test_blocks.py::test_rows_that_are_kept_are_those_of_the_centre_asked_for[martingale_score]",
        ("curator/blocks.py", "if made is None or made[0] != key:", "if made is None:"),
    ),
    planted(
        "rows of blocks that an interrupted pass has left may be taken for those of other ones",
        "curator/test_blocks.py::test_rows_of_a_pass_that_was_interrupted_are_forgotten",
        ("curator/blocks.py", "            self.standing.clear()", "            pass"),
    ),
    planted(
        "what an interrupted pass has written over is taken for what was there",
        "curator/test_blocks.py::test_what_is_written_over_when_a_pass_is_interrupted_is_made_again",
        ("curator/blocks.py", "self._made.pop(place)[2]", "made[2]"),
    ),
    planted(
        "blocks that stay are all read into the memory of the first",
        "curator/test_blocks.py::test_blocks_that_stay_lie_one_after_the_other_in_one_piece_of_memory",
        ("curator/blocks.py", "self._left[:size], self._left[whole:]", "self._left[:size], self._left"),
    ),
    planted(
        "a part that comes twice is added twice",
        "curator/test_engines.py::test_parts_are_added_once_each_in_any_order",
        ("curator/engines.py", "        if place not in missing:", "        if False:"),
        ("curator/engines.py", "        missing.remove(place)", "        missing.discard(place)"),
    ),
    planted(
        "parts that do not come are not missed",
        "curator/test_engines.py::test_parts_are_added_once_each_in_any_order",
        ("curator/engines.py", "    if missing:", "    if False:"),
    ),
    planted(
        "a bar tells how many rows each part of a file has",
        "curator/test_engines.py::test_a_bar_tells_nothing_of_how_rows_lie_in_parts",
        ("curator/curator.py", "self._bar.update(self._shown - shown)", "self._bar.update(rows)"),
    ),
    planted(
        "what an exception of a worker says, which may be a cell, is told",
        "curator/test_engines.py::test_an_exception_of_a_worker_is_told_by_its_type_and_line",
        (
            "curator/partial.py",
            "text = str(error) if kind is DataError and is_own(error) else",
            "text = str(error) or",
        ),
    ),
    planted(
        "a file that has changed between two passes is read on",
        "rows/test_parts.py::test_a_file_that_changes_is_refused[d.parquet]",
        ("rows/parts.py", "        if not same:", "        if False:"),
    ),
    planted(
        "a line at which a CSV file is cut is in both parts",
        "rows/test_parts.py::test_a_file_in_parts_has_the_rows_of_one_that_is_kept[d.csv]",
        (
            "rows/csvfile.py",
            "return chunk + rest if stop is None else min(chunk + rest, stop - start)",
            "return chunk + rest",
        ),
    ),
    planted(
        "rounding is no part of how far eigenvalues of neighbours lie apart",
        "curator/test_lattice.py::test_rounding_is_part_of_the_sensitivity_of_eigenvalues",
        (LAW, "RAISED + math.sqrt(2) * float(extra.sum()))", "RAISED)"),
    ),
)

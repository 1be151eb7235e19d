# ruff: noqa: E501 - the texts that are replaced stand as they are
"""Faults of the ledger, of conversions between kinds of privacy, and of contributions."""

from tests.mutants.mutant import planted

LEDGER, STORE, KINDS = "ledger/ledger.py", "ledger/store.py", "budget/kinds.py"
LAW, MESSAGE, TOTALS = "contributors/law.py", "contributors/message.py", "contributions/totals.py"

MUTANTS = (
    planted(
        "charges without a mu amount to that of the others",
        "ledger/test_composition.py::test_each_notion_adds_up_or_is_none_where_a_charge_lacks_it",
        (
            "ledger/report.py",
            "if self.delta or self.rho or not square",
            "if self.delta and self.rho or not square",
        ),
    ),
    planted(
        "many epsilons above 1 are pooled downwards",
        "ledger/test_composition.py::test_pooled_charges_amount_to_no_less_than_each_for_itself",
        (
            "ledger/report.py",
            "math.ceil(math.log(epsilon) * 200) / 200)",
            "math.ceil(math.log(epsilon) * 200) / 202)",
        ),
    ),
    planted(
        "a sum of epsilons that no float holds is rounded down",
        "ledger/test_composition.py::test_a_sum_that_no_float_holds_is_rounded_up[mu = 1 (GDP)]",
        (
            "ledger/report.py",
            "(pure + convert.epsilon_of_mu(mu, left)) * (1 + 1e-15)",
            "(pure + convert.epsilon_of_mu(mu, left)) / (1 + 1e-15)",
        ),
    ),
    planted(
        "a refund in a file of an earlier format is no damage",
        "ledger/test_durability.py::test_a_refund_in_a_ledger_of_an_earlier_format_is_damage",
        (STORE, 'to_text(spent) == after and "-" not in cost', "to_text(spent) == after"),
    ),
    planted(
        "a charge is not synced to the disk",
        "ledger/test_durability.py::test_a_charge_is_synced_to_the_disk",
        (
            STORE,
            'connection.execute("PRAGMA synchronous = EXTRA")',
            'connection.execute("PRAGMA synchronous = OFF")',
        ),
    ),
    planted(
        "charges stay in a log beside the file",
        "ledger/test_durability.py::test_the_file_alone_holds_every_charge_that_was_told",
        (STORE, "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = WAL"),
    ),
    planted(
        "a copy that another thread makes lets two processes charge at once",
        "ledger/test_durability.py::test_a_copy_that_another_thread_makes_lets_no_other_process_in",
        (STORE, "    with alone(path), told(path), closing", "    with told(path), closing"),
    ),
    planted(
        "a process that reads undoes the charge of another, of which a thread makes a copy",
        "ledger/test_durability.py::test_a_copy_that_another_thread_makes_lets_no_other_process_in",
        (STORE, "    with alone(path), told(path):", "    with told(path):"),
    ),
    planted(
        "a log of an earlier version stays beside the file",
        "ledger/test_durability.py::test_a_charge_moves_the_log_of_an_earlier_version_into_the_file",
        (STORE, '    connection.execute("PRAGMA journal_mode = DELETE")\n', ""),
    ),
    planted(
        "charges under two names of one file do not count together",
        "ledger/test_durability.py::test_a_file_with_two_names_is_refused",
        (STORE, "    if names > 1:\n        raise", "    if False:\n        raise"),
    ),
    planted(
        "whoever is killed while beginning a ledger leaves one that is refused",
        "ledger/test_durability.py::test_who_is_killed_while_beginning_a_ledger_leaves_one_that_is_used",
        (STORE, "names -= _removed_drafts(path.resolve())", "pass"),
    ),
    planted(
        "a draft by which a ledger was charged is taken for one that was left",
        "ledger/test_durability.py::test_a_draft_by_which_a_ledger_was_used_and_other_names_are_refused",
        (STORE, "[*folder.iterdir()] == [draft] and ", ""),
    ),
    planted(
        "charges may be deleted",
        "ledger/test_durability.py::test_charges_and_the_total_are_final",
        (STORE, "RAISE(ABORT, 'there is no refund')", "RAISE(IGNORE)"),
    ),
    planted(
        "a charge may be replaced by another",
        "ledger/test_durability.py::test_charges_and_the_total_are_final",
        (STORE, "WHERE seq = NEW.seq", "WHERE seq = -1"),
    ),
    planted(
        "digests leave out what a charge says",
        "ledger/test_durability.py::test_what_any_part_of_a_charge_says_is_not_changed_unseen",
        (STORE, "json.dumps([before, *row])", "json.dumps([before, row[0]])"),
    ),
    planted(
        "digests of charges do not hang together",
        "ledger/test_durability.py::test_a_sound_charge_of_another_ledger_is_not_taken_for_one_of_this",
        (STORE, "json.dumps([before, *row])", "json.dumps([*row])"),
    ),
    planted(
        "a ledger of an earlier format that is damaged is given digests",
        "ledger/test_durability.py::test_damage_to_a_ledger_of_an_earlier_format_is_given_no_digest",
        (STORE, "    verify(connection)  # or else", "    # or else"),
    ),
    planted(
        "charges that are missing at the end are not missed",
        "ledger/test_durability.py::test_a_damaged_file_is_named_and_left_alone",
        (STORE, "if not sound or made != (count,):", "if not sound:"),
    ),
    planted(
        "a copy of a ledger that somebody keeps beside it is taken for a draft",
        "ledger/test_durability.py::test_copies_that_somebody_keeps_beside_a_ledger_are_no_drafts",
        (STORE, 'f".{path.name}.draft-"', 'f".{path.name}."'),
    ),
    planted(
        "a draft that is being made is removed",
        "ledger/test_durability.py::test_a_draft_that_is_being_made_is_left_alone",
        (STORE, "path.parent.iterdir() if locked else ()", "path.parent.iterdir()"),
    ),
    planted(
        "a ledger of an earlier format is opened although its sums are wrong",
        "ledger/test_durability.py::test_damage_to_a_ledger_of_an_earlier_format_is_given_no_digest",
        (STORE, "    if not sound or", "    if"),
    ),
    planted(
        "more than the total is charged",
        "ledger/test_charging.py",
        (LEDGER, "            if fits:\n", "            if True:\n"),
    ),
    planted(
        "a budget whose amount was changed past its checks is a refund",
        "ledger/test_charging.py::test_a_budget_that_was_changed_past_its_checks_is_no_refund",
        (KINDS, "    value.__post_init__()\n", ""),
    ),
    planted(
        "a link may be pointed at an earlier copy of a ledger",
        "ledger/test_durability.py::test_an_earlier_copy_is_noticed_where_a_link_leads_to_it",
        (LEDGER, "return {(self.path, self._head), (", "return {("),
    ),
    planted(
        "a late thread turns back what was seen of a ledger",
        "ledger/test_durability.py::test_a_thread_that_is_late_turns_no_memory_back",
        (LEDGER, "max(entries[-1], _SEEN.get(key, entries[-1]), key=lambda entry: entry.seq)", "entries[-1]"),
    ),
    planted(
        "two processes charge at once",
        "ledger/test_durability.py::test_no_other_writes_while_a_charge_is_made",
        (STORE, 'connection.execute("BEGIN IMMEDIATE")', 'connection.execute("BEGIN")'),
    ),
    planted(
        "what is no truth value is taken for Gaussian noise",
        "ledger/test_charging.py::test_gaussian_is_true_or_false",
        (LEDGER, 'truth("gaussian", gaussian)', "gaussian"),
    ),
    planted(
        "a ledger takes a billionth more than its total",
        "ledger/test_charging.py::test_a_limit_is_kept_to_the_last_digit",
        (
            LEDGER,
            "fits = covers(rule.limit, add(spent, cost))",
            "fits = all(x >= y * (1 - Fraction(1, 10**9)) for x, y in zip(rule.limit, add(spent, cost)))",
        ),
        (LEDGER, "from pathlib import Path\n", "from fractions import Fraction\nfrom pathlib import Path\n"),
    ),
    planted(
        "epsilons of many charges are pooled downwards",
        "ledger/test_composition.py::test_pooled_charges_amount_to_no_less_than_each_for_itself",
        (
            "ledger/report.py",
            "math.exp(math.ceil(math.log(epsilon) * 200) / 200)",
            "math.exp(math.floor(math.log(epsilon) * 200) / 200)",
        ),
    ),
    planted(
        "a charge of too little to be told spoils the report",
        "ledger/test_charging.py::test_what_was_charged_can_be_told_however_little_or_much",
        ("ledger/report.py", "return kind(max(amount, LEAST)) if", "return kind(amount) if"),
    ),
    planted(
        "a unit is charged to a ledger of rows",
        "ledger/test_units.py::test_rows_decide_as_any_other_unit_does",
        (LEDGER, "if ends and ends[0].unit != unit:", "if ends and ends[0].unit not in (unit, ROW.short):"),
    ),
    planted(
        "what is spent is rounded down",
        "ledger/test_composition.py::test_what_is_spent_is_rounded_up",
        (KINDS, "Pure(max(up(spent[0]), LEAST))", "Pure(max(down(spent[0]), LEAST))"),
        (KINDS, "Zcdp(max(up(spent[0]), LEAST))", "Zcdp(max(down(spent[0]), LEAST))"),
    ),
    planted(
        "the sums of pure charges are not rounded up",
        "ledger/test_composition.py::test_the_epsilon_of_pure_charges_holds_to_the_last_place",
        ("ledger/report.py", "return points + _ULP * np.abs(points)", "return points"),
    ),
    planted(
        "chances of responses are not rounded up",
        "ledger/test_composition.py::test_no_response_is_less_likely_than_it_is[0.01-1000]",
        ("ledger/report.py", "np.exp(logs + 8 * _ULP * most)", "np.exp(logs)"),
    ),
    planted(
        "points that were merged are not rounded up",
        "ledger/test_composition.py::test_points_that_were_merged_amount_to_no_less",
        ("ledger/report.py", "width + 4 * _ULP * (abs(low) + abs(high))", "width"),
    ),
    planted(
        "weights of points that were merged are not rounded up",
        "ledger/test_composition.py::test_points_that_were_merged_amount_to_no_less",
        ("ledger/report.py", "pooled * (1 + len(points) * _ULP)", "pooled"),
    ),
    planted(
        "a curve takes a delta of more than one row in n",
        "privacy/test_every_case.py::test_no_method_takes_a_budget_that_protects_nothing_or_data_without_rows",
        ("models/kaplan_meier.py", "        check_budget(budget, self._rows.n)\n", ""),
    ),
    planted(
        "another unit is charged to the same ledger",
        "ledger/test_units.py",
        (LEDGER, "if ends and ends[0].unit != unit:", "if False:"),
    ),
    planted(
        "a rho promises half of what it buys",
        "test_budget.py::test_what_a_kind_says_in_several_ways_agrees",
        (KINDS, "Promise.of_gaussian(2 * rho) if", "Promise.of_gaussian(rho) if"),
    ),
    planted(
        "a pure charge costs a quarter of its rho",
        "ledger/test_charging.py::test_a_fit_of_pure_epsilon_is_charged_as_such",
        (KINDS, "rho=epsilon**2 / 2", "rho=epsilon**2 / 4"),
    ),
    planted(
        "Gaussian charges add up as half their squares",
        "ledger/test_composition.py",
        (
            "budget/rules.py",
            "(_implied(charge.promise.square, missing),)",
            "(_implied(charge.promise.square, missing) / 2,)",
        ),
    ),
    planted(
        "the Gaussian formula of small epsilon at any (dp-statsmodels)",
        "test_budget.py",
        (
            "_conversions.py",
            "return bisected(lambda mu: delta_of_mu(mu, epsilon) <= delta, 1e-60, 1e16)",
            "return epsilon / math.sqrt(2 * math.log(1.25 / delta))",
        ),
    ),
    planted(
        "a shift of zCDP's epsilon that is too good",
        "test_budget.py",
        ("_conversions.py", "return max(best, 0.0) * (1 + 1e-12) + 1e-12", "return max(best, 0.0) * 0.99"),
    ),
    planted(
        "the rounding of delta is not counted",
        "test_budget.py::test_rounding_brings_no_delta_below_its_exact_value",
        ("_conversions.py", "head - density * _mills(-b)) + error)", "head - density * _mills(-b)))"),
    ),
    planted(
        "the mu of pure epsilon is rounded down",
        "test_budget.py::test_rounding_brings_no_mu_of_pure_below_its_exact_value",
        (
            "_conversions.py",
            "ndtri_exp(log_probability)) * (1 + 1e-9)",
            "ndtri_exp(log_probability)) * (1 - 1e-9)",
        ),
    ),
    planted(
        "parts of a budget that add up to more",
        "test_budget.py",
        (KINDS, "max(total, 1.0) * (1 - 2.0**-49)", "max(total, 1.0) * (1 + 2.0**-40)"),
    ),
    planted(
        "an iterator of messages that is stopped keeps its rows",
        "contributors/test_message.py::test_messages_that_end_in_an_error_leave_no_row",
        (MESSAGE, "@forgetting_each", "@forgetting"),
    ),
    planted(
        "a cell of a record is asked how many values it has",
        "contributors/test_message.py::test_no_code_of_a_cell_is_run_and_no_words_of_a_record_leave",
        (MESSAGE, "return type(value) in _SEVERAL", "return np.ndim(value) > 0"),
    ),
    planted(
        "a message's record is not shortened",
        "privacy/test_contributions.py::test_no_two_records_are_farther_apart_than_the_sensitivity",
        (MESSAGE, "np.maximum(np.sqrt((q**2).sum(axis=1)), 1.0)[:, None]", "1.0"),
    ),
    planted(
        "a message's response is not clipped",
        "privacy/test_contributions.py::test_no_two_records_are_farther_apart_than_the_sensitivity",
        (
            MESSAGE,
            "np.clip((block.endog - block.offset - middle) / half, -1.0, 1.0)",
            "(block.endog - block.offset - middle) / half",
        ),
    ),
    planted(
        "noise of messages that adds up to half",
        "privacy/test_contributions.py::test_audit_of_the_sum",
        (LAW, "sensitivity / (root * budget.mu * (1 - GUARD))", "sensitivity / (2 * root * budget.mu)"),
    ),
    planted(
        "a number far below the range of honest ones is summed",
        "contributions/test_totals.py::test_one_number_out_of_range_is_found_at_either_end",
        (
            TOTALS,
            "(values.max(axis=0) <= limits).all() and (values.min(axis=0) >= -limits).all()",
            "(values.max(axis=0) <= limits).all()",
        ),
    ),
    planted(
        "fewer messages than the plan asks for",
        "contributions/test_totals.py",
        (TOTALS, "if count < plan.contributors:", "if count < 1:"),
    ),
    planted(
        "a message that comes twice counts twice",
        "contributions/test_totals.py",
        (TOTALS, "values = values[new]", "values = values[:]"),
    ),
)

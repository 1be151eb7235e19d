# ruff: noqa: E501 - the texts that are replaced stand as they are
"""Faults of models and results: what is charged, for whom, and what a result holds."""

from tests.mutants.mutant import Mutant, planted

CHARGE = "privacy/test_every_charge.py::"
WHOLE = CHARGE + "test_the_whole_cost_is_charged_before_the_first_draw_and_stays"
UNIT = CHARGE + "test_whose_privacy_it_is_stands_everywhere"
REPLAY = "privacy/test_every_replay.py::test_a_row_that_is_replaced"
TRACE = "privacy/test_every_trace.py::test_a_result_holds_and_shows_no_row"
PAYERS = {  # file of a model: how it pays, how it names the unit, a case of it
    "kaplan_meier": ("ledger, budget, formula", "unit=self._rows.unit.short", "kaplan_meier-zcdp"),
    "linear": ("ledger, budget, formula", "unit=self._rows.unit.short", "ols-gram-zcdp"),
    "glm": ("ledger, budget, formula", "unit=self._rows.unit.short", "logit-newton-zcdp"),
    "survreg": ("ledger, budget, formula", "unit=self._rows.unit.short", "survreg-weibull-newton-zcdp"),
    "functional": ("ledger, budget, formula", "unit=curator.unit.short", "survreg-weibull-functional-pure"),
    "margin": ("ledger, budget, formula", "unit=curator.unit.short", "svm-objective-pure"),
}


def of_payer(model: str) -> tuple[Mutant, Mutant]:
    pays, unit, case = PAYERS[model]
    half = pays.replace("budget", "budget.split(0.5)[0]")
    return (
        planted(f"half of the cost is charged ({model})", f"{WHOLE}[{case}]", (f"models/{model}.py", pays, half)),
        planted(
            f"the ledger is not told the unit ({model})", f"{WHOLE}[{case}]",
            (f"models/{model}.py", unit, "unit='one row'"),
        ),
    )  # fmt: skip


def one_row(model: str, case: str) -> Mutant:
    return planted(
        f"'replace one row' under a unit of several ({model})", f"{UNIT}[{case}]",
        (f"models/{model}.py", "adjacency=curator.unit.adjacency", "adjacency='replace one row'"),
    )


def unmarked(model: str, case: str) -> Mutant:
    return planted(
        f"a fit with seeded noise is not marked ({model})", f"{CHARGE}test_what_is_drawn_costs_what_is_charged[{case}]",
        (f"models/{model}.py", "not_private=curator.not_private", "not_private=False"),
    )


MUTANTS = (
    *(mutant for model in PAYERS for mutant in of_payer(model)),
    *(one_row(model, case) for model, (_, _, case) in PAYERS.items()),
    *(unmarked(model, case) for model, (_, _, case) in PAYERS.items()),
    planted(
        "the ledger is charged after the noise (kaplan_meier)", f"{WHOLE}[kaplan_meier-zcdp]",
        ("models/kaplan_meier.py", "        line = pay(\n", "        paid = lambda: pay(\n"),
        ("models/kaplan_meier.py", "ledger=line", "ledger=paid()"),
    ),
    planted(
        "the ledger is charged after the noise (svm, objective, output, debiased)", f"{WHOLE}[svm-output-zcdp]",
        ("models/margin.py", "    line = pay(\n", "    paid = lambda: pay(\n"),
        ("models/margin.py", "ledger=line", "ledger=paid()"),
    ),
    planted(
        "the ledger is charged after the noise (glm)", f"{WHOLE}[glm-poisson-newton-zcdp]",
        ("models/glm.py", "        line = pay(\n", "        paid = lambda: pay(\n"),
        ("models/glm.py", "ledger=line", "ledger=paid()"),
    ),
    planted(
        "nobs counts the rows that are valid", f"{REPLAY}[glm-poisson-newton-zcdp]",
        ("models/glm.py", "nobs=curator.n,", "nobs=sum(int(block.ok.sum()) for block in curator._blocks),"),
    ),
    planted(
        "a caution from sums that were not released", f"{REPLAY}[glm-poisson-newton-zcdp]",
        ("models/glm.py", "flags=cautions(result.problems, self.design.names)",
         "flags=cautions((*result.problems, *['budget'] * any(not block.ok.all() for block in curator._blocks)),"
         " self.design.names)"),
    ),
    planted(
        "the record keeps rows (svm)", f"{TRACE}[svm-objective-pure]",
        ("models/margin.py", "method=method, released=tuple(released), adjacency", "method=_keeping(method, curator), released=tuple(released), adjacency"),
        ("models/margin.py", "def said(robust",
         "class _Text(str):\n    pass\n\n\ndef _keeping(text: str, curator: Curator) -> str:\n"
         "    kept = _Text(text)\n    kept.rows = curator._rows\n    return kept\n\n\ndef said(robust"),
    ),
    planted(
        "covariance of a GLM without its privacy part",
        "privacy/test_every_error.py::test_the_privacy_part_is_the_spread_of_fits[glm-poisson-newton-zcdp]",
        ("estimators/newton/estimate.py", "cov = sampling + privacy\n", "cov = sampling + 0 * privacy\n"),
    ),
    planted(
        "privacy part of a GLM for one step of many",
        "privacy/test_every_error.py::test_the_privacy_part_is_the_spread_of_fits[glm-poisson-newton-zcdp]",
        ("estimators/newton/estimate.py", "averaged.noise**2 / steps", "averaged.noise**2 / steps**3"),
    ),
    planted(
        "a delta by which a row in n may leak whole", "models/test_svm.py::test_refusals",
        ("models/checks.py", "if isinstance(budget, Approx) and budget.delta > 1 / n:", "if False:"),
    ),
)

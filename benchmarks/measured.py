"""Tables of the pages on what was measured, each read from a file of benchmarks/results.

``coverage_page.py`` puts them into the pages. No number of them is typed.
"""

import math
import re
from collections.abc import Callable, Iterable
from functools import partial

from pictures import RESULTS, Cell, cells

PARTS = ("slopes", "log sigma", "B10", "intercept")
LAWS = {"sev": "Weibull", "logistic": "log-logistic", "gaussian": "log-normal"}
DESIGNS = {
    **{"norm": "", "cond1": "independent", "cond1000": "correlated", "corr": "correlated (.9)"},
    **{"corr9": "correlated (.9)", "binary": "rare 0/1 columns", "rare": "rare 0/1 columns"},
    **{"t4": "heavy tails", "lognormal": "skewed", "delayed": "", "late": "", "erm": "the rival's design"},
}
ERRORS = {"gauss": "normal errors", "early": "early failures", "t3": "t errors", "exp": "exponential errors"}
OTHERS = {"hetero": "unequal errors", "negbin": "overdispersed", "normal": "", "true": "", "own": ""}
SETS = {
    **{
        "hdfail": "hard drives",
        "engines_3": "engines",
        "rotterdam_8": "breast cancer",
        "ccpp": "power plant",
    },
    **{"wine": "white wine", "cps1988": "wages", "rotterdam_lognodes": "breast cancer, log(nodes)"},
}
_SPACE = "\N{NO-BREAK SPACE}"
Tables = dict[str, Callable[[], str]]


def grid(*files: str) -> str:
    """Survival: a line for each cell whose model is true, with error and coverage of each quantity."""
    found = [cell for file in files for cell in cells(f"survreg_{file}.txt") if not cell.honest]
    alike = len({cell.rows for cell in found}) == 1
    body = [
        [
            named(cell.name, not alike),
            cell.budget,
            *(_pair(cell, part) for part in PARTS),
            percent(cell.flagged),
        ]
        for cell in found
    ]
    heads = ["design", "budget", *(f"{part}: error, holds" for part in PARTS), "caution"]
    return _table(heads, body) + "\n" + _in_all(found, PARTS) + "\n"


def wrong_laws(file: str) -> str:
    """Survival: what intervals hold where errors are of another law, and what cautions say."""
    found = [cell for cell in cells(f"survreg_{file}.txt") if cell.honest]
    body = [
        [named(cell.name, sized=False), cell.budget]
        + [percent(shares[part]) for part in ("slopes", "log sigma") for shares in (cell.covers, cell.honest)]
        for cell in found
    ]
    said = "hold, or the fit says `law`"
    return _table(
        [
            "design",
            "budget",
            "slopes hold",
            f"slopes {said}",
            "log sigma holds",
            f"log sigma {said.replace('hold,', 'holds,')}",
        ],
        body,
    )


def designs(*files: str) -> str:
    """Linear and generalised linear models: a line for each design, a column for each budget."""
    found = [cell for file in files for cell in cells(f"{file}.txt")]
    budgets = list(dict.fromkeys(cell.budget for cell in found))
    names = list(dict.fromkeys(cell.name for cell in found))
    by = {(cell.name, cell.budget): cell for cell in found}
    alike = len({cell.rows for cell in found}) == 1
    body = [
        [named(name, not alike), *(_slopes(by.get((name, budget))) for budget in budgets)] for name in names
    ]
    return _table(["design", *budgets], body) + "\n" + _in_all(found, tuple(found[0].covers)) + "\n"


def named(cell: str, sized: bool = True) -> str:
    """The name of a cell of a simulation, in words, with the number of rows or without it."""
    words, rows = [], ""
    for part in cell.split("-"):
        if re.fullmatch(r"n?\d{4,}", part):
            rows = f"{int(part.removeprefix('n')):,} rows" if sized else ""
        elif part.isdigit():
            words.append(f"{part} % censored")
        elif re.fullmatch(r"d\d+", part):
            words.append(f"k = {part[1:]}")
        elif re.fullmatch(r"\d+sd", part):
            words += [f"bounds of {part[:-2]} sds"] if part != "4sd" else []
        elif part == "rare" and words and words[0] == "logit" and len(words) == 1 and "-own-" not in cell:
            words.append("one yes in a hundred")
        else:
            words.append((LAWS | DESIGNS | ERRORS | OTHERS).get(part, part))
    return ", ".join(word for word in [*words, rows] if word)


def real(*files: str) -> str:
    """Fits of real sets: errors and standard errors over those without privacy, and what intervals hold."""
    body = []
    for file in files:
        for block in re.split(r"\n\n", (RESULTS / f"{file}.txt").read_text("utf-8")):
            head = re.search(r"^(\w+)(, \w+)?, (?:epsilon|mu) = [\d.]+: n = ([\d,]+).*", block, re.MULTILINE)
            if not head:
                continue
            body.append(_real(head, block))
    heads = ["set", "budget", "longer than without privacy", "error in standard errors", "holds", "caution"]
    return _table(heads, body)


def _real(head: re.Match[str], block: str) -> list[str]:
    lines = [line.split("|") for line in block.splitlines() if line.count("|") == 2]
    numbers = [(left.split(), right.split()) for _, left, right in lines if re.match(r"\s*-?[\d.]", left)]
    lengths = [float(left[2 if len(left) == 3 else -1]) for left, _ in numbers]
    errors = [float(left[0]) for left, _ in numbers]
    holds = [float(right[0]) for _, right in numbers]
    public = re.search(r"([\d,]+ public rows)", head[0])
    name = f"{SETS.get(head[1], head[1])}{head[2] or ''}{f', {public[1]}' if public else ''}"
    cautions = re.search(r"(?:flagged|cautions in) ([\d.]+)", block)
    budget = re.search(r"(epsilon|mu) = [\d.]+", head[0])
    assert budget is not None and cautions is not None
    return [
        f"{name}, {int(head[3].replace(',', '')):,} rows",
        budget[0],
        span(lengths, 1),
        span(errors, 1),
        percent(sum(holds) / len(holds)),
        percent(float(cautions[1])),
    ]


def rivals(names: tuple[str, ...], own: str) -> str:
    """Errors against published rivals, with the same rows, bounds and budget."""
    text = (RESULTS / "rivals.txt").read_text("utf-8")
    blocks = re.findall(
        r"epsilon = ([\d.]+): median error from the truth\n(.*?)\n\n", text + "\n\n", re.DOTALL
    )
    body = []
    for name in names:
        line = [RIVALS[name]]
        for _, block in blocks:
            head, *lines = block.splitlines()
            fields = next(row for row in lines if row.startswith(name))
            line.append(_against(head, fields))
        body.append(line)
    return _table([own, *(f"epsilon = {epsilon}" for epsilon, _ in blocks)], body)


RIVALS = {
    "plain": "10 normal columns, 10,000 rows",
    "unbalanced": "5 columns and a factor with levels down to 2 %, 10,000 rows",
    "25 columns": "25 normal columns, 10,000 rows",
    "income": "4 columns and an income in [0, 1e6], 10,000 rows",
    "wages": "wages, 28,155 rows",
    "weeks": "weeks of work, 254,654 rows",
    "children": "more than two children, 254,654 rows",
    "adult": "incomes, 30,162 rows",
}
_PEERS = ("AdaSSP", "boosted AdaSSP", "DP-GD", "TukeyEM", "diffprivlib", "objective")


def _against(head: str, fields: str) -> str:
    ends = {peer: re.search(rf"(?<!boosted ){re.escape(peer)}(?=\s)", head) for peer in ("dpstats", *_PEERS)}
    values = {}
    for peer, found in ends.items():
        assert found is not None
        cell = fields[: found.end()].rsplit(None, 1)[-1] if fields[found.end() - 1].strip() else ""
        values[peer] = float(cell) if cell else math.inf
    best = min(_PEERS, key=lambda peer: values[peer])
    lost = re.search(r"(\d+)% of ours", fields)
    ending = f" ({lost[1]} % not estimable)" if lost else ""
    return f"{values['dpstats']:.2f}{ending}, {best} {values[best]:.2f}"


def uci() -> str:
    """Held-out errors on fourteen sets, in the mean over sets, against AdaSSP."""
    body = []
    for protocol, what in (("norm", "rows of a declared norm"), ("box", "bounds alone and an intercept")):
        text = (RESULTS / f"rivals_uci_{protocol}.txt").read_text("utf-8")
        found = re.findall(r"^summary +[\d.]+ +([\d.]+) +([\d.]+)$", text, re.MULTILINE)
        body += [
            [f"{what}, `ols`", *(ours for _, ours in found)],
            [f"{what}, AdaSSP", *(a for a, _ in found)],
        ]
    budgets = re.findall(r"^(epsilon = [\d.]+):", text, re.MULTILINE)
    return _table(["protocol", *budgets], body)


def functional() -> str:
    """The functional mechanism: a line for each cell."""
    text = (RESULTS / "functional_coverage.txt").read_text("utf-8")
    body = []
    for block in text.split("\n\n")[1:]:
        head = re.match(r"(\w+) (\w+) n = ([\d,]+), (epsilon [\d.]+): flagged ([\d.]+)", block.strip())
        if head:
            law, design = LAWS[head[1]], {"norm": ""}.get(head[2], f", {DESIGNS.get(head[2], head[2])}")
            parts = re.findall(
                r"^  (?:slopes|intercept|log sigma) +ratio +([\d.]+).*?holds ([\d.]+)", block, re.M
            )
            pairs = [f"{float(ratio):.2g}, {percent(float(holds))}" for ratio, holds in parts]
            body.append([f"{law}{design}, {head[3]} rows", head[4], *pairs, percent(float(head[5]))])
    heads = ["design", "budget", *(f"{part}: error, holds" for part in ("slopes", "intercept", "log sigma"))]
    return _table([*heads, "caution"], body)


def simulation() -> str:
    """The cells of the paper's simulation for which the paper gives an error, and the end of the file."""
    text = (RESULTS / "lls_simulation.txt").read_text("utf-8")
    body = []
    for block in re.split(r"\n\n", text):
        head = re.match(r"(\w+), over (\w+): (.*); median error", block)
        for line in block.splitlines()[2:] if head else []:
            errors, *_, paper = line.split("|")[1:]
            if paper.strip():
                varied = f"{head[2]} = {float(line.split()[0]):g}"
                mle, published, _, corrected, ours = errors.split()
                cell = f"{head[1]}, {varied}, {head[3]}"
                body.append([cell, mle, published, corrected, ours, ", ".join(paper.split())])
    heads = ["cell", "without privacy", "published", "corrected", "default", "paper: private, not private"]
    last = text.strip().splitlines()[-2:]
    said = re.match(r"newton within 5 % of MLE in (\d+) of (\d+) cells", last[0])
    assert said is not None
    return _table(heads, body) + (
        f"\nThe default method predicts within 5 % of maximum likelihood in {said[1]} of {said[2]} cells.\n"
    )


def choice() -> str:
    """How often the family that times were drawn from is ahead."""
    text = (RESULTS / "dist-choice.txt").read_text("utf-8")
    head = re.search(r"n = (\d+), epsilon = (\d+).*; (\d+) fits", text)
    right = re.search(r"right of the two: (\d+) of (\d+)", text)
    assert head is not None and right is not None
    return (
        f"{head[3]} fits of {int(head[1]):,} rows at epsilon = {head[2]}, of times that are Weibull or "
        f"log-normal, fitted as either: the right one of the two was ahead in {right[1]} of {right[2]}.\n"
    )


def lines(file: str, heads: dict[str, str], which: int = 0) -> str:
    """A table that a benchmark printed, the first or another: some of its columns, under other names."""
    text = (RESULTS / f"{file}.txt").read_text("utf-8")
    block = [part for part in re.split(r"\n\n", text) if re.search(r"^-{3,}", part, re.MULTILINE)][which]
    rows = block.splitlines()
    at = next(number for number, row in enumerate(rows) if re.match(r"-{3,}", row))
    places = [(found.start(), found.end()) for found in re.finditer(r"-+", rows[at])]
    cut = [[row[start:end].strip() for start, end in places] for row in [rows[at - 1], *rows[at + 1 :]]]
    keep = [cut[0].index(name) for name in heads]
    body = [[row[number].replace("nan", "") for number in keep] for row in cut[1:]]
    return _table(list(heads.values()), body)


def engines() -> str:
    """Predictions of the lives of engines: a line for each method and budget, then without privacy."""
    text = (RESULTS / "cmapss.txt").read_text("utf-8")
    rows = re.findall(r"^ +(\d+)  (\w+) +([\d.]+) \(.*?\) +(\d+)% +(\d+)% +(\d+)%$", text, re.MULTILINE)
    methods = {"newton": "default, delta = 1e-6", "functional": "functional, pure epsilon"}
    body = [
        [methods[method], epsilon, error, *(percent(int(share) / 100) for share in shares)]
        for epsilon, method, error, *shares in rows
    ]
    for what, error in re.findall(r"^MLE, not private, (.*?): ([\d.]+)$", text, re.MULTILINE):
        body.append([f"maximum likelihood, {what}", "", error, "", "", ""])
    constant = re.search(r"constant predictor ([\d.]+)", text)
    assert constant is not None
    body.append(["the constant", "", constant[1], "", "", ""])
    heads = ["method", "epsilon", "median error", "beats the constant"]
    return _table([*heads, "interval of the slope", "of log sigma"], body)


def verbatim(file: str, start: str = "", until: str = "") -> str:
    """What a benchmark printed, from a line that begins so to the blank line before another, or all of it."""
    text = (RESULTS / f"{file}.txt").read_text("utf-8")
    said = text[text.index(start) :]
    return f"```text\n{(said[: said.index(until)] if until else said).rstrip()}\n```\n"


def empirical_risk() -> str:
    """Table 3 of the paper on intervals for empirical risk minimisation: its widest design, and all."""
    text = (RESULTS / "erm_table3.txt").read_text("utf-8")
    lines = re.findall(r"^    (\w+)-(\w+)-(LR|SVM) +([\d.]+)((?: +[\d.]+){6})$", text, re.MULTILINE)
    widths = [int(width) for width in re.findall(r"^table3, adult, d = (\d+)", text, re.MULTILINE)]
    each = len(lines) // len(widths)
    by = {widths[number // each]: {} for number in range(len(lines))}
    for number, (kind, method, loss, published, rest) in enumerate(lines):
        by[widths[number // each]][kind, method, loss] = [float(published), *map(float, rest.split())]
    body = []
    for (kind, method, loss), numbers in by[max(by)].items():
        published, covered, length, ratio, ours, our_length, our_ratio = numbers
        all_of = [cells[kind, method, loss] for cells in by.values()]
        name = f"{NOISE[kind]}, {METHODS[method]}, {LOSSES[loss]}"
        body.append(
            [name, f"{published:.3f}", f"{covered:.3f}, {length:.3f}, {ratio:.2f}"]
            + [f"{ours:.3f}, {our_length:.3f}, {our_ratio:.2f}"]
            + [span([row[4] for row in all_of], 3), span([row[6] for row in all_of], 2)]
        )
    most = max(by)
    heads = [f"d = {most}", "published: holds", '`compat="paper"`: holds, length, length / variability']
    heads += ["default: the same", f"default, d = 1 to {most}: holds", "length / variability"]
    return _table(heads, body)


def pure_logit() -> str:
    """Logistic regression under pure epsilon: what is held, error and half-length, and what is lost."""
    text = (RESULTS / "logit_pure.txt").read_text("utf-8")
    rows = re.findall(r"^(\w+) +(\d+) +(\d+) +([\d.]+)((?: +(?:nan|[\d.]+)){7})$", text, re.MULTILINE)
    budgets = list(dict.fromkeys(row[3] for row in rows))
    by: dict[tuple[str, str, str], dict[str, str]] = {}
    for design, n, d, budget, rest in rows:
        _, lost, held, _, _, error, half = map(float, rest.split())
        said = f"{held:.3f}, {error:.3f}, {half:.3f}" if math.isfinite(held) else ""
        gone = f"{percent(lost)} lost" if lost >= 0.005 else ""
        by.setdefault((design, n, d), {})[budget] = "; ".join(part for part in (gone, said) if part)
    body = [
        [PURE_DESIGNS.get(name, name), f"{int(n):,}, {d}", *(cells.get(budget, "") for budget in budgets)]
        for (name, n, d), cells in by.items()
    ]
    return _table(["design", "rows, covariates", *(f"epsilon = {budget}" for budget in budgets)], body)


NOISE = {"DP": "pure", "zCDP": "zCDP"}
METHODS = {"obj": "objective", "output": "output"}
LOSSES = {"LR": "logistic", "SVM": "Huber"}
PURE_DESIGNS = {
    **{"page": "half uniform, half binary", "plain": "bounds that fit", "wide": "one column 50 sds wide"},
    **{"pairs": "pairs correlated .95", "strong": "strong slopes", "levels": "levels of 25 to 1 %"},
}


def span(values: Iterable[float], digits: int = 0) -> str:
    """The least and the largest of some numbers, and how many are infinite."""
    finite = [value for value in values if math.isfinite(value)]
    lost = sum(not math.isfinite(value) for value in values)
    if not finite:
        return "not estimable"
    low, high = f"{min(finite):.{digits}f}", f"{max(finite):.{digits}f}"
    return (low if low == high else f"{low} to {high}") + (f" ({lost} not estimable)" if lost else "")


def percent(share: float) -> str:
    """A share in per cent, of which no line breaks between the number and the sign."""
    return f"{100 * share:.0f}{_SPACE}%"


def _pair(cell: Cell, part: str) -> str:
    if part not in cell.covers:
        return ""
    return f"{cell.ratios[part]:.2f}, {percent(cell.covers[part])}" if cell.none < 0.5 else "not estimable"


def _slopes(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.none >= 0.5:
        return "not estimable"
    flagged = f" ({percent(cell.flagged)} caution)" if cell.flagged >= 0.05 else ""
    return f"{cell.ratio:.2f}, {percent(cell.covers['slopes'])}{flagged}"


def _in_all(found: list[Cell], parts: tuple[str, ...]) -> str:
    some = [cell for cell in found if cell.none < 0.5]
    said = []
    for part in parts:
        shares = [cell.covers[part] for cell in some if part in cell.covers]
        if shares:
            mean = sum(shares) / len(shares)
            low, high = 100 * min(shares), 100 * max(shares)
            said.append(f"{part} {percent(mean)} ({low:.0f} to {high:.0f} %)")
    fits = sorted({cell.fits for cell in found})
    each = f"{fits[0]} fits" if len(fits) == 1 else f"{fits[0]} to {fits[-1]} fits"
    return f"{each} a cell. Held over all cells that are estimable: {', '.join(said)}."


def _table(heads: list[str], body: list[list[str]]) -> str:
    rows = [heads, ["---"] * len(heads), *body]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


KM = {
    "budget": "budget",
    "design": "design",
    "~": "formula",
    "covered %": "holds, %",
    "worst time": "worst time, %",
}
STRATA = {
    "coefficients": "",
    "number": "number",
    "covered %": "intervals that hold, %",
    "confidently wrong %": "confidently wrong, %",
}
FORECAST = {
    **{"law": "law", "fleets": "fleets", "periods %": "a period, %", "worst period": "worst period, %"},
    **{"in all %": "all periods, %", "parameters %": "variance due to the fit, %"},
}
LOOK = {
    **{"quantity": "quantity", "intervals": "intervals", "covered %": "holds, %"},
    **{"without privacy %": "without privacy, %", "median half-width": "half-width, sds"},
}
FAR = {
    **{
        "budget": "budget",
        "median error": "median error, sds",
        "within 2 % of an sd, %": "within .02 sds, %",
    },
    **{"sd of one count": "noise of one count, sds"},
}
CODES = {
    **{"columns": "columns", "rows": "rows", "coded %": "coded -999, %"},
    **{"mean held %": "mean holds, %", "sd held %": "sd holds, %"},
}
TABLES: Tables = {
    "survreg_10000": partial(grid, "coverage_10000", "coverage_lognormal_10000"),
    "survreg_1000": partial(grid, "coverage_1000"),
    "survreg_100000": partial(grid, "coverage_100000"),
    "survreg_designs": partial(grid, "coverage_designs_10000"),
    "survreg_wrong": partial(wrong_laws, "coverage_designs_10000"),
    "survreg_delayed": partial(grid, "delayed_10000"),
    "survreg_late": partial(grid, "delayed_late_10000"),
    "survreg_pure": partial(grid, "coverage_pure_10000", "coverage_pure_100000"),
    "survreg_pure_hard": partial(grid, "coverage_pure_hard_10000"),
    "survreg_real": partial(real, "survreg_real"),
    "survreg_real_pure": partial(real, "survreg_real_pure"),
    "functional": functional,
    "simulation": simulation,
    "choice": choice,
    "cmapss": engines,
    "linear_grid": partial(
        designs, "linear_coverage_1000", "linear_coverage_10000", "linear_coverage_100000"
    ),
    "linear_public": partial(designs, "linear_coverage_public_10000"),
    "linear_designs": partial(designs, "linear_coverage_designs_10000"),
    "linear_pure": partial(designs, "linear_coverage_pure_10000"),
    "linear_real": partial(real, "linear_real"),
    "linear_wine": partial(real, "linear_real_wine"),
    "linear_rivals": partial(
        rivals, ("plain", "unbalanced", "25 columns", "income", "wages", "weeks"), "`ols`"
    ),
    "uci": uci,
    "glm_grid": partial(designs, "glm_coverage_1000", "glm_coverage_10000", "glm_coverage_wide_10000"),
    "glm_large": partial(designs, "glm_coverage_100000", "glm_coverage_million"),
    "glm_designs": partial(designs, "glm_coverage_designs_10000"),
    "glm_real": partial(real, "glm_real", "glm_real_budgets"),
    "glm_rivals": partial(rivals, ("children", "adult"), "`logit`"),
    "kaplan_meier": partial(lines, "kaplan_meier_coverage", KM),
    "forecast": partial(lines, "forecast_coverage", FORECAST),
    "strata": partial(lines, "strata_lottery", STRATA),
    "audit": partial(verbatim, "audit"),
    "scale": partial(verbatim, "scale", "commit"),
    "frontier": partial(verbatim, "refusals-frontier", "commit"),
    "clusters": partial(verbatim, "clusters", "commit"),
    "spark": partial(verbatim, "spark", "commit"),
    "database": partial(verbatim, "database", "commit"),
    "refusals_fresh": partial(verbatim, "refusals_fresh", "           route"),
    "column_moments": partial(verbatim, "column_moments", "Intervals of"),
    "plans": partial(verbatim, "planning", "Planned over"),
    "plans_fresh": partial(verbatim, "planning_fresh", "Planned over"),
    "plans_pure": partial(verbatim, "planning_pure", "Planned over"),
    "erm": empirical_risk,
    "erm_4": partial(verbatim, "erm_table4_bank", "c = "),
    "erm_5": partial(verbatim, "erm_table5_bank", "c = "),
    "erm_6": partial(verbatim, "erm_table6", "c = "),
    "erm_simulated": partial(verbatim, "erm_simulated", "c = "),
    "logit_pure": pure_logit,
    "census": partial(verbatim, "input_perturbation_linear", "Figure 1"),
    "census_logit": partial(verbatim, "input_perturbation_logistic", "Figure"),
    "messages": partial(verbatim, "contributions_speed"),
    "describe": partial(lines, "describe", LOOK),
    "describe_smooth": partial(lines, "describe", LOOK, 1),
    "describe_far": partial(lines, "describe", FAR, -2),
    "describe_codes": partial(lines, "describe", CODES, -1),
}

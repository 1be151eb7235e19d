"""Puts the numbers of benchmarks/results/speed.txt into docs/performance.md.

PYTHONPATH=. python benchmarks/speed_page.py

Each table of the page stands between a comment with its name and a comment that ends it. A test compares the
page with what this script would write, so that no number of it was typed.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks/results/speed.txt", ROOT / "docs/performance.md"
_PLACE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


class Line(NamedTuple):
    """One case of speed.txt, in its words."""

    name: str
    peer: str
    ours: str
    theirs: str
    ratio: str
    goal: str
    fast: str
    peak: str
    allowed: str
    small: str


def lines(results: str) -> list[Line]:
    """The cases of the first table."""
    _, _, rest = results.partition("\n---")
    table = rest.partition("\n\n")[0].splitlines()[1:]
    return [Line(*re.split(r" {2,}", line.strip())) for line in table]


def models(cases: list[Line]) -> str:
    """Ratios of fits against statsmodels, by size and kind of factor, with the goals."""
    found = {tuple(case.name.split(", ")): case for case in cases if case.name.count(", ") == 3}
    heads = list(dict.fromkeys((model, kind) for model, kind, _, _ in found))
    sizes = list(dict.fromkeys((n, d) for _, _, n, d in found))
    out = [_row("rows, columns", *(", ".join(head) for head in heads)), "|---" * (len(heads) + 1) + "|"]
    for n, d in sizes:
        cells = (found.get((*head, n, d)) for head in heads)
        size = f"{float(n):,.0f}, {d.removeprefix('d = ')}"
        out.append(_row(size, *(f"{case.ratio} ({case.goal})" if case else "" for case in cells)))
    return "\n".join(out)


def others(cases: list[Line]) -> str:
    """All other cases, with their times."""
    out = [_row("fit", "peer", "seconds", "of the peer", "ratio (goal)"), "|---" * 5 + "|"]
    for case in cases:
        if case.name.count(", ") != 3:
            name = re.sub(r"\d\.?\d*e\+\d+", lambda size: f"{float(size[0]):,.0f} rows", case.name)
            out.append(_row(name, case.peer, case.ours, case.theirs, f"{case.ratio} ({case.goal})"))
    return "\n".join(out)


def verdict(cases: list[Line]) -> str:
    """How many goals of time hold, and which."""
    held = [case.name.partition(",")[0] for case in cases if case.fast == "holds"]
    return f"Of {len(cases)} goals of time {len(held)} hold: {', '.join(held) or 'none'}."


def memory(cases: list[Line]) -> str:
    """The most that any case of a size needs beyond the frame, over what is allowed."""
    share = {case.name: f"{case.peak} of {case.allowed}" for case in cases}
    missed = [_row(name, share[name]) for name in share if _case(cases, name).small != "holds"]
    held = sum(case.small == "holds" for case in cases)
    return "\n".join(["| beyond the goal | MB |", "|---|---|", *missed, _row("all others", f"{held} hold")])


def rest(results: str) -> str:
    """What stands after the table: the load of the machine, imports, and growth."""
    body = results.partition("\n---")[2].partition("\n\n")[2]
    return "```text\n" + body.strip() + "\n```"


def head(results: str) -> str:
    """The command and the commits."""
    return "```text\n" + results.partition("\nprocessor")[0].strip() + "\n```"


def written(page: str, results: str) -> str:
    """The page with all tables from the results."""
    cases = lines(results)
    tables = {
        "head": head(results),
        "models": models(cases),
        "others": others(cases),
        "memory": memory(cases),
        "verdict": verdict(cases),
        "rest": rest(results),
    }
    return _PLACE.sub(lambda place: f"{place[1]}{tables[place[2]]}\n{place[3]}", page)


def _case(cases: list[Line], name: str) -> Line:
    return next(case for case in cases if case.name == name)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), RESULTS.read_text()))

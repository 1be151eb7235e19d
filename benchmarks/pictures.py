"""Draws the pictures of the pages, from nothing and from benchmarks/results: docs/pictures/*.svg.

PYTHONPATH=. python benchmarks/pictures.py

What is measured is read from the results; the figures that explain show curves of the laws that they name.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from scipy.stats import norm

import dpstats as dps

ROOT = Path(__file__).parents[1]
RESULTS, PICTURES = ROOT / "benchmarks/results", ROOT / "docs/pictures"
BLUE, RED, GREY, GREEN = "#1f5fa8", "#c0392b", "#777777", "#2e7d32"
HEAD = re.compile(r"^(\w[\w-]*), (epsilon|mu) ([\d.]+): (\d+) fits")
LINE = re.compile(r"^  (slopes|intercept|log sigma|B10|sigma|R2|dispersion) .*?covers (\d\.\d+|nan).*?")
STYLE = {"svg.hashsalt": "dpstats", "axes.spines.top": False, "axes.spines.right": False}


class Cell(NamedTuple):
    """One design at one budget: how its fits did; ``none`` is the share of intervals that are infinite.

    Where errors are of another law, ``honest`` has the shares of intervals that hold or whose fit says so.
    """

    name: str
    budget: str
    mu: float
    fits: int
    ratio: float
    ratios: dict[str, float]
    covers: dict[str, float]
    honest: dict[str, float]
    flagged: float
    none: float

    @property
    def rows(self) -> int:
        """How many rows the design has."""
        return int(re.findall(r"n?(\d+)", self.name)[-1])

    @property
    def censored(self) -> float:
        """The share of rows without a failure; survival designs only."""
        return int(re.findall(r"-true-(\d+)-", self.name)[0]) / 100


def cells(file: str) -> list[Cell]:
    """What a table of coverage says of each of its cells."""
    found: list[Cell] = []
    for part in re.split(r"\n(?=\w)", (RESULTS / file).read_text("utf-8")):
        head = HEAD.match(part)
        if not head:
            continue
        amount = float(head[3])
        mu = dps.approx(amount, 1e-6).mu if head[2] == "epsilon" else amount
        lines = [(line, LINE.match(line)) for line in part.splitlines()]
        parts = [(line, match) for line, match in lines if match]
        honest = {match[1]: _number(r"honest ([\d.]+)", line) for line, match in parts}
        ratios = {match[1]: _number(r"ratio +([\d.]+)", line) for line, match in parts}
        found.append(
            Cell(
                name=head[1],
                budget=f"{head[2]} = {head[3]}",
                mu=mu,
                fits=int(head[4]),
                ratio=_number(r"ratio +([\d.]+)", part),
                ratios=ratios,
                covers={match[1]: float(match[2]) for _, match in parts},
                honest={part: share for part, share in honest.items() if np.isfinite(share)},
                flagged=_number(r"flagged ([\d.]+)", part),
                none=_number(r"none ([\d.]+)", part),
            )
        )
    return found


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    return float(found[1]) if found else np.nan


def survival(size: int) -> list[Cell]:
    """Cells of survreg whose model is true, with so many rows."""
    files = [f"survreg_coverage_{size}.txt", "survreg_coverage_lognormal_10000.txt"]
    return [cell for file in files for cell in cells(file) if cell.rows == size and "-true-" in cell.name]


def replaced() -> Figure:
    """Two tables that differ in one row, and what may come out of each."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.9), width_ratios=(1, 1.5))
    for x, name, changed in ((0, "A", False), (1.3, "B", True)):
        left.text(x + 0.45, 6.3, f"table {name}", ha="center")
        for row in range(6):
            other = changed and row == 3
            box = plt.Rectangle((x, 5 - row), 0.9, 0.8, fc=RED if other else "#dfe8f2", ec="white")
            left.add_patch(box)
    left.annotate("", (1.25, 2.4), (0.95, 2.4), arrowprops={"arrowstyle": "->", "color": RED})
    left.text(1.1, -0.7, "the same but for one row", ha="center", color=RED)
    left.set(xlim=(-0.1, 2.3), ylim=(-1, 7))
    left.axis("off")
    mu, x = dps.approx(1, 1e-6).mu, np.linspace(-4, 4, 400)
    right.plot(x, norm.pdf(x), color=BLUE, label="from table A")
    right.plot(x, norm.pdf(x - mu), color=RED, ls="--", label="from table B")
    right.set(xlabel="released number, in sds of its noise", yticks=[], xlim=(-4, 4))
    right.set_title("epsilon = 1: who sees the number can hardly tell which table it was", fontsize=10)
    right.legend(frameon=False)
    return figure


STEPS = (
    ("record", "one line of a file;\nwhat cannot be read\nweighs nothing"),
    ("row", "clipped to the\npublic bounds,\ncoded by the schema"),
    ("sum", "over all rows; each\nadds at most the\nsensitivity"),
    ("release", "the sum plus noise,\ncharged to the ledger\nbefore it is drawn"),
    ("fit", "computed from\nreleases alone: tables,\ntests, plots, files"),
)


def way() -> Figure:
    """How a record travels to what is published."""
    figure, axes = plt.subplots(figsize=(9, 2.4))
    for at, (name, said) in enumerate(STEPS):
        inside = at < 3
        box = FancyBboxPatch(
            (at * 2.2, 0),
            1.75,
            1.6,
            boxstyle="round,pad=0.05",
            fc="#f6dcd9" if inside else "#dcefdd",
            ec="none",
        )
        axes.add_patch(box)
        axes.text(at * 2.2 + 0.87, 1.3, name, ha="center", weight="bold")
        axes.text(at * 2.2 + 0.87, 0.6, said, ha="center", va="center", fontsize=7.5)
        if at:
            axes.annotate("", (at * 2.2 - 0.08, 0.8), (at * 2.2 - 0.38, 0.8), arrowprops={"arrowstyle": "->"})
    axes.axvline(6.38, ymin=0.02, ymax=0.98, color=GREY, ls="--")
    axes.text(3.1, 1.95, "private: seen by the curator alone", ha="center", color=RED)
    axes.text(8.6, 1.95, "public: may be printed, saved and sent", ha="center", color=GREEN)
    axes.set(xlim=(-0.15, 10.75), ylim=(-0.15, 2.25))
    axes.axis("off")
    return figure


def interval() -> Figure:
    """Half widths of a slope by budget, and what of them is noise."""
    said = (RESULTS / "linear_coverage_10000.txt").read_text("utf-8")
    found = re.findall(
        r"^cond1-normal-4sd-d5-n10000, mu ([\d.]+):(?:.*\n)+?  slopes .*privacy ([\d.]+)", said, re.M
    )
    figure, axes = plt.subplots(figsize=(7, 2.4))
    for at, (_, share) in enumerate(found):
        whole = 1 / np.sqrt(1 - float(share))
        axes.barh(at, 2 * whole, left=-whole, color="#9dbde0", height=0.5)
        axes.barh(at, 2, left=-1, color=BLUE, height=0.5)
        axes.text(
            whole + 0.04, at, f"{100 * float(share):.0f} % of the variance is noise", va="center", fontsize=9
        )
    axes.set(yticks=range(len(found)), yticklabels=[f"mu = {mu}" for mu, _ in found], xlim=(-1.6, 2.7))
    axes.set_xticks([-1, 0, 1], ["", "estimate", ""])
    axes.set_title("interval of a slope: sampling (dark), and privacy noise on top (light)", fontsize=10)
    axes.spines["left"].set_visible(False)
    return figure


def usable() -> Figure:
    """Error over that of maximum likelihood, by failures times mu."""
    figure, axes = plt.subplots(figsize=(7, 3.4))
    for size, mark in ((1000, "o"), (10000, "s"), (100000, "^")):
        for flagged, face in ((False, BLUE), (True, "none")):
            some = [cell for cell in survival(size) if (cell.flagged >= 0.5) == flagged]
            x = [cell.rows * (1 - cell.censored) * cell.mu for cell in some]
            label = f"{size:,} rows" if not flagged else None
            axes.scatter(x, [cell.ratio for cell in some], marker=mark, ec=BLUE, fc=face, s=28, label=label)
    limit = max(75 * 7**0.5, 12 * 7)
    axes.axvline(limit, color=RED, ls="--")
    axes.text(limit * 1.08, 7, "usable from here on:\n75 sqrt(k), k = 7", color=RED, va="top", fontsize=9)
    axes.axhline(1, color=GREY, lw=0.8)
    axes.set(xscale="log", yscale="log", xlabel="failures x mu", ylabel="error / error without privacy")
    axes.set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    axes.minorticks_off()
    axes.set_title("survreg, slopes of six covariates; hollow: most fits carry a caution", fontsize=10)
    axes.legend(frameon=False)
    return figure


def coverage_map(axes: Axes, found: list[Cell], what: str) -> None:
    """One map: designs down, budgets across, the share of intervals that hold the truth in colour."""
    names, mus = sorted({cell.name for cell in found}), sorted({cell.mu for cell in found})
    table = np.full((len(names), len(mus)), np.nan)
    for cell in found:
        table[names.index(cell.name), mus.index(cell.mu)] = cell.covers.get(what, np.nan)
    axes.imshow(table, cmap="RdYlGn", vmin=0.8, vmax=1.0, aspect="auto")
    for (row, column), value in np.ndenumerate(table):
        if np.isfinite(value):
            axes.text(column, row, f"{100 * value:.0f}", ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(mus)), [f"{mu:.2g}" for mu in mus])
    axes.set_yticks(range(len(names)), names, fontsize=7.5)
    axes.set_xlabel("mu")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)


MAPS = {
    "survreg": ("survreg_coverage_10000.txt", "survreg_coverage_lognormal_10000.txt"),
    "linear": ("linear_coverage_10000.txt",),
    "glm": ("glm_coverage_10000.txt",),
}


def covered(name: str) -> Figure:
    """The map of one model: slopes."""
    found = [cell for file in MAPS[name] for cell in cells(file) if "slopes" in cell.covers]
    rows = len({cell.name for cell in found})
    figure, axes = plt.subplots(figsize=(6, 0.9 + 0.26 * rows))
    coverage_map(axes, found, "slopes")
    axes.set_title(f"{name}: 95 % intervals of slopes that hold the truth, in per cent", fontsize=10)
    return figure


DRAWN: dict[str, Callable[[], Figure]] = {
    "replaced": replaced,
    "way": way,
    "interval": interval,
    "usable": usable,
    **{f"coverage_{name}": lambda name=name: covered(name) for name in MAPS},
}


def drawn(name: str) -> Figure:
    """A picture by its name."""
    with plt.rc_context(STYLE):
        return DRAWN[name]()


def main() -> None:
    plt.rcParams |= STYLE
    matplotlib.use("svg")
    for name in DRAWN:
        figure = drawn(name)
        figure.savefig(
            PICTURES / f"{name}.svg", bbox_inches="tight", metadata={"Date": None}, facecolor="white"
        )
        plt.close(figure)


if __name__ == "__main__":
    main()

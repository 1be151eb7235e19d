"""What each tuned number of a route does: half of it and twice it, on the same rows under the same noise.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/ablation.py estimators/newton --models logit gamma

A number is one in a constant of a module, the sole one or one of several. Designs are those of the lottery,
and every fit of a design has its rows and the seed of its noise, so that fits differ by the number alone.
Where none differs, the number is inert on these designs: it may still guard against others. What is bound
when a module is imported, such as a default argument, does not vary.
"""

import argparse
import ast
import importlib
import math
import multiprocessing
import pkgutil
import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from lots.designs import draw_design
from lots.rows import sample
from lots.score import exact, fitted, model_of, scored_or_not
from provenance import ROOT, header
from tabulate import tabulate
from tqdm import tqdm

import dpstats

Record = dict[str, Any]
FACTORS = (0.5, 2.0)
FAR = 100.0  # standard errors without privacy, as which an error beyond counts
TOLD = 3000  # n epsilon of a design, at least: else noise leaves little to see
HEADS = ("number", "value", "times", "fits", "changed", "error", "length", "held", "flags")
FORMATS = ("", "g", "g", "d", "d", ".3f", ".3f", "+.1f", "+d")


class Number(NamedTuple):
    """One number of a constant: where it is, and which of those that it holds."""

    module: str
    name: str
    place: int
    value: float

    def __str__(self) -> str:
        return f"{self.module.removeprefix('dpstats.estimators.')}.{self.name}[{self.place}]"


def numbers_of(value: Any) -> Iterator[float]:
    """Numbers of a constant, in order; none of what holds anything else."""
    if isinstance(value, tuple):
        for each in value:
            yield from numbers_of(each)
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value:
        yield value


def varied(value: Any, place: int, factor: float) -> Any:
    """The constant with its number at `place` times a factor, whole where it was whole."""
    count = 0

    def changed(each: Any) -> Any:
        nonlocal count
        if isinstance(each, tuple):
            return tuple(changed(part) for part in each)
        if next(numbers_of(each), None) is None:
            return each
        count += 1
        if count - 1 != place:
            return each
        return max(round(each * factor), 1) if isinstance(each, int) else each * factor

    return changed(value)


def found(folder: str) -> list[Number]:
    """Numbers in the constants of the modules of a folder."""
    listed = []
    for path in sorted((ROOT / "dpstats" / folder).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        own = vars(importlib.import_module(module.removesuffix(".__init__")))
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            for name in names:
                listed += [Number(module, name, *pair) for pair in enumerate(numbers_of(own[name]))]
    return listed


def install(number: Number, value: Any) -> None:
    """Give a constant a value wherever it was imported, and forget what was computed with another."""
    before = getattr(sys.modules[number.module], number.name)
    for name, module in list(sys.modules.items()):
        if name.startswith("dpstats."):
            if vars(module).get(number.name) is before:
                setattr(module, number.name, value)
            for each in list(vars(module).values()):
                getattr(each, "cache_clear", lambda: None)()


def ablated(seed: int, numbers: list[Number]) -> tuple[Record, list[Record]]:
    """Scores of a design, and with each number halved and doubled."""
    design = draw_design(seed)
    drawn = sample(design)
    _, cov = exact(design.model, design.dist, drawn, slice(0, design.n))
    truth, doubt = drawn.truth, np.zeros(len(cov))
    assert truth is not None

    def score() -> Record:
        return scored_or_not(lambda: fitted(model_of(design, drawn), design.budget, seed, truth, doubt, cov))

    usual, others = score(), []
    for number in numbers:
        value = getattr(sys.modules[number.module], number.name)
        for factor in FACTORS:
            install(number, varied(value, number.place, factor))
            others.append(score())
            install(number, value)
    return usual, others


def compared(pairs: list[tuple[Record, Record]]) -> tuple[float, ...]:
    """Of fits before and after: how many changed, ratios of errors and lengths, intervals held, flags."""
    changed = sum(before != after for before, after in pairs)
    both = [pair for pair in pairs if all("halves" in each for each in pair)]
    errors, lengths, halves = (
        np.array([[*chain.from_iterable(pair[side][key] for pair in both)] for side in (0, 1)], dtype=float)
        for key in ("errors", "widths", "halves")
    )
    known = np.isfinite(errors + lengths).all(axis=0)
    if not known.any():
        return len(pairs), changed, math.nan, math.nan, math.nan, 0
    squares = np.mean(np.minimum(errors[:, known], FAR) ** 2, axis=1)
    length = np.exp(np.mean(np.log(lengths[1, known] / lengths[0, known])))
    held = 100 * np.mean(np.abs(halves[:, known]) <= 1, axis=1)
    flags = sum(bool(after["flags"]) - bool(before["flags"]) for before, after in both)
    return len(pairs), changed, math.sqrt(squares[1] / squares[0]), float(length), held[1] - held[0], flags


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", help="of dpstats, whose constants vary, such as estimators/newton")
    parser.add_argument("--models", nargs="+", required=True, help="of the lottery's designs")
    parser.add_argument("--pure", action="store_true", help="designs of pure epsilon, else all others")
    parser.add_argument("--designs", type=int, default=20)
    parser.add_argument("--rows", type=int, default=30_000, help="of a design, at most")
    parser.add_argument("--seed", type=int, default=1, help="of the first design that is tried")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    top = header(folder=Path(options.folder))  # of the code that runs, whatever changes meanwhile
    for module in pkgutil.walk_packages(dpstats.__path__, "dpstats."):
        if ".cli" not in module.name and "__main__" not in module.name:
            importlib.import_module(module.name)
    seeds, seed = [], options.seed
    while len(seeds) < options.designs:
        design = draw_design(seed)
        known = design.known and design.n <= options.rows and design.model in options.models
        known &= design.n * design.epsilon > TOLD
        seeds += [seed] * (known and (design.kind == "pure") == options.pure)
        seed += 1
    numbers = found(options.folder)
    with multiprocessing.Pool(options.jobs) as pool:
        runs = pool.imap(partial(ablated, numbers=numbers), seeds)
        records = list(tqdm(runs, total=len(seeds), desc=options.folder))
    rows = []
    for place, (number, factor) in enumerate((number, factor) for number in numbers for factor in FACTORS):
        pairs = [(usual, others[place]) for usual, others in records]
        rows.append((str(number), number.value, factor, *compared(pairs)))
    rows.sort(key=lambda row: -row[4])
    print(top)
    print(tabulate(rows, headers=HEADS, floatfmt=FORMATS))


if __name__ == "__main__":
    main()

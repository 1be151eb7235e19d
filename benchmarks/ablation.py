"""What each tuned number of a route does: half of it and twice it, on the same rows under the same noise.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/ablation.py --route "ols gaussian" --minutes 20
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/ablation.py --route "logit gaussian" --minutes 20

A number is one in a constant at the top of a module of estimators or moments. It is edited in the source
before the package is imported, by a process of its own, so that what follows from it (other constants,
default arguments, tables that are kept) follows from the edited one. Of a grid, which is a tuple of five
numbers or more in order, every second is left out, or the last third.

Designs are those of the lottery, in turn wide and ordinary, and every fit of a design has its rows and the
seed of its noise, so that fits differ by the number alone. A number counts as read by a fit in which any code
ran that names it, or a constant made of it; only fits that read a number are made again.

A fit counts as changed where anything that it holds did, be it the last digit of a share explained. Errors
are in standard errors of the fit as it is, so that each design counts alike. After +- stands the paired Monte
Carlo error, from fit to fit. Each change is a line of a file in --work; the same command goes on with a run
that was stopped.
"""

import argparse
import ast
import hashlib
import importlib
import importlib.util
import itertools
import json
import math
import multiprocessing
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np
from provenance import ROOT, estimator, header
from tabulate import tabulate
from tqdm import tqdm

Record = dict[str, Any]
PACKAGE = Path(str(importlib.util.find_spec("dpstats").origin)).parent
WORK = Path(__file__).parent / ".work"
FOLDERS = ("estimators", "moments")
NEEDED = ("pandas", "scipy.optimize", "scipy.stats", "statsmodels.api", "opendp.prelude")  # of every fit
GRID = 5  # numbers in order that are taken for the grid of a search
FAR = 10.0  # standard errors, as which an error beyond counts
PATIENCE = 60  # seconds that the fits of one change may take
HEADS = ("number", "value", "change", "read", "changed", "error", "length", "held", "flagged", "lost")


class Number(NamedTuple):
    """A number or a grid in a constant: where it is, and which of those of its constant."""

    module: str
    name: str
    place: int
    value: float | tuple[float, ...]

    def __str__(self) -> str:
        module = self.module.removeprefix("dpstats.").removeprefix("estimators.")
        return f"{module}.{self.name}" + f"[{self.place}]" * (self.place > 0)

    @property
    def changes(self) -> tuple[str, ...]:
        """What may be done to it."""
        return ("thinned", "cut") if isinstance(self.value, tuple) else ("half", "twice")


Task = tuple[Number, str, list[int]]


def constant(node: ast.expr) -> float | None:
    """The value of an expression of numbers alone, that is finite and not 0."""
    kinds = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    parts = list(ast.walk(node))
    plain = all(type(each.value) in (int, float) for each in parts if isinstance(each, ast.Constant))
    if not isinstance(node, ast.expr) or not all(isinstance(each, kinds) for each in parts) or not plain:
        return None
    value = eval(compile(ast.Expression(node), "<number>", "eval"))
    return value if math.isfinite(value) and value else None


def grid(node: ast.expr) -> tuple[float, ...] | None:
    """The values of a tuple of many numbers in order."""
    values = [constant(each) for each in node.elts] if isinstance(node, ast.Tuple) else []
    known = [value for value in values if value is not None]
    return tuple(known) if len(known) == len(values) >= GRID and known == sorted(known) else None


def edited(value: Any, change: str) -> Any:
    """A number or a grid after a change; whole where it was whole."""
    if change.startswith("="):
        return ast.literal_eval(change[1:].strip())
    if change in ("thinned", "cut"):
        return value[::2] if change == "thinned" else value[: math.ceil(len(value) * 2 / 3)]
    factor = {"half": 0.5, "twice": 2.0}[change]
    return max(round(value * factor), 1) if isinstance(value, int) and value > 0 else value * factor


class Editing(ast.NodeTransformer):
    """Lists the numbers of an expression, and changes one of them where told to."""

    def __init__(self, place: int = -1, change: str = "") -> None:
        self.place, self.change = place, change
        self.found: list[float | tuple[float, ...]] = []

    def visit(self, node: ast.AST) -> ast.AST:
        value = (constant(node) or grid(node)) if isinstance(node, ast.expr) else None
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "dict":  # a table of names
            return node
        if value is None:
            return super().visit(node)
        self.found.append(value)
        if len(self.found) - 1 != self.place:
            return node
        return ast.parse(repr(edited(value, self.change)), mode="eval").body


def parsed(source: str | bytes) -> ast.Module:
    """A module, in which `A, B = 1, 2` stands as two assignments."""
    tree = ast.parse(source)
    tree.body = list(itertools.chain.from_iterable(map(single, tree.body)))
    return ast.fix_missing_locations(tree)


def single(node: ast.stmt) -> list[ast.stmt]:
    """Assignments of one name each, in the place of one of several."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return [node]
    target = node.targets[0]
    if not isinstance(target, ast.Tuple):
        return [node]
    pairs = zip(target.elts, node.value.elts, strict=True)
    return [ast.copy_location(ast.Assign([name], value), node) for name, value in pairs]


def constants(tree: ast.Module) -> Iterator[tuple[str, ast.Assign | ast.AnnAssign]]:
    """Assignments to a name at the top of a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    yield name.id, node


def found(folder: str) -> list[Number]:
    """Numbers in the constants of the modules of a folder."""
    listed = []
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        module = module_of(path)
        for name, node in constants(parsed(path.read_text(encoding="utf-8"))):
            editing = Editing()
            editing.visit(node.value)  # type: ignore[arg-type]
            listed += [Number(module, name, *pair) for pair in enumerate(editing.found)]
    return listed


class Edited(SourceFileLoader):
    """Loads a module with a number of it changed."""

    def __init__(self, name: str, path: str, number: Number, change: str) -> None:
        super().__init__(name, path)
        self.number, self.change = number, change

    def get_code(self, fullname: str) -> CodeType:
        tree = parsed(self.get_data(self.path))
        for name, node in constants(tree):
            if name == self.number.name:
                node.value = Editing(self.number.place, self.change).visit(node.value)  # type: ignore[arg-type]
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class Finder(MetaPathFinder):
    """Finds the module of a number before others do."""

    def __init__(self, number: Number, change: str) -> None:
        self.number, self.change = number, change

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != self.number.module:
            return None
        spec = PathFinder.find_spec(fullname, path)
        assert spec is not None and spec.origin is not None
        spec.loader = Edited(fullname, spec.origin, self.number, self.change)
        return spec


class Fits:
    """Fits of designs of the lottery, each with its own rows and noise; imports the package."""

    def __init__(self) -> None:
        self.designs = importlib.import_module("lots.designs")
        self.score = importlib.import_module("lots.score")
        self.sample = importlib.import_module("lots.rows").sample

    def design(self, seed: int) -> Any:
        """Wide of even seeds, ordinary of odd ones."""
        return (self.designs.draw_ordinary if seed % 2 else self.designs.draw_design)(seed)

    def fit(self, seed: int) -> Record:
        design = self.design(seed)
        drawn = self.sample(design)
        _, cov = self.score.exact(design.model, design.dist, drawn, slice(0, design.n))
        given = design.budget, seed, drawn.truth, np.zeros(len(cov)), cov
        keeping = Keeping(partial(self.score.model_of, design, drawn))
        found = dict(self.score.scored_or_not(lambda: self.score.fitted(keeping, *given)))
        return found | {"digest": keeping.digest}


class Keeping:
    """A model that keeps a digest of its fit."""

    def __init__(self, model: Callable[[], Any]) -> None:
        self.model, self.digest = model, ""

    def fit(self, budget: Any) -> Any:
        found = self.model().fit(budget)
        self.digest = hashlib.sha256(json.dumps(found.to_dict(), sort_keys=True).encode()).hexdigest()[:16]
        return found


def chosen(route: str, rows: int, fits: int, first: int) -> list[int]:
    """Seeds of designs of a route whose true parameters are known."""
    own = Fits()
    designs = ((seed, own.design(seed)) for seed in itertools.count(first))
    wanted = (seed for seed, each in designs if each.route == route and each.known and each.n <= rows)
    return list(itertools.islice(wanted, fits))


def traced(seeds: list[int]) -> list[tuple[Record, list[str]]]:
    """Of each design its fit, and the global names in the package's code that ran."""
    own, names, listed = Fits(), Names(), []
    own.fit(seeds[0])
    for seed in seeds:
        codes: set[CodeType] = set()

        def seen(frame: FrameType, event: str, _: Any, codes: set[CodeType] = codes) -> None:
            if event == "call":
                codes.add(frame.f_code)

        forget()
        sys.setprofile(seen)
        score = own.fit(seed)
        sys.setprofile(None)
        ran = [(path, code) for code in codes if PACKAGE in (path := Path(code.co_filename)).parents]
        used = {(module_of(path), name) for path, code in ran for name in (code.co_name, *code.co_names)}
        listed.append((score, sorted(names.full(*each) for each in used)))
    return listed


def forget() -> None:
    """Empty what the package keeps between fits."""
    for name, module in list(sys.modules.items()):
        if name.startswith("dpstats."):
            kinds = [each for each in vars(module).values() if isinstance(each, type)]
            for holder in (module, *kinds):
                for each in list(vars(holder).values()):
                    getattr(each, "cache_clear", lambda: None)()


class Names:
    """Global names of the package's modules, each with the module that assigns it."""

    def __init__(self) -> None:
        self.trees = {module_of(path): parsed(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
        self.origins = {
            (module, alias.asname or alias.name): (node.module, alias.name)
            for module, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module is not None
            for alias in node.names
        }

    def full(self, module: str, name: str) -> str:
        """A name that code of a module uses, with the module it is from."""
        place = (module, name)
        while place in self.origins:
            place = self.origins[place]
        return ".".join(place)

    def made(self) -> dict[str, set[str]]:
        """Of each name the constants, functions and classes that are made of it when a module is imported."""
        made = defaultdict(set)
        for module, tree in self.trees.items():
            for name, node in at_import(tree):
                for each in ast.walk(node):
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                        made[self.full(module, each.id)].add(self.full(module, name))
        return made


def at_import(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """What an import evaluates: constants, and of functions and classes what stands outside the code."""
    yield from constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            parts = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]
            yield from ((node.name, part) for part in parts if part is not None)
        elif isinstance(node, ast.ClassDef):
            yield from (
                (node.name, part) for part in node.body if isinstance(part, ast.Assign | ast.AnnAssign)
            )


def names_of(number: Number, made: dict[str, set[str]]) -> set[str]:
    """The name of a number, and those of all that is made of it."""
    new = {f"{number.module}.{number.name}"}
    known = set(new)
    while new:
        new = set().union(*(made.get(each, set()) for each in new)) - known
        known |= new
    return known


def module_of(path: Path) -> str:
    """Of a file of the package."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def tried(task: Task) -> Record:
    """Fits with a number changed."""
    number, change, seeds = task
    sys.meta_path.insert(0, Finder(number, change))
    signal.signal(signal.SIGALRM, overdue)
    signal.alarm(PATIENCE)
    try:
        own = Fits()
        scores = {str(seed): own.fit(seed) for seed in seeds}
    except Exception as fault:  # any number may break an import, or let a loop run for ever
        scores = {str(seed): {"fault": repr(fault)} for seed in seeds}
    signal.alarm(0)
    return {"number": str(number), "change": change, "scores": scores}


def overdue(*_: object) -> None:
    """Of fits that take far longer than the usual ones."""
    raise TimeoutError("does not end")


class Effect(NamedTuple):
    """What a change did to one fit."""

    error: float
    length: float
    held: float
    flagged: float
    lost: float


def effect(before: Record, after: Record) -> Effect | None:
    """Half the growth of the mean square error, that of log length, of coverage, of flags and lost ones."""
    if not ("halves" in before and "halves" in after):
        return None
    keys = ("errors", "widths", "halves")
    old, new = (np.array([each[key] for key in keys], dtype=float) for each in (before, after))
    known = np.isfinite(old + new).all(axis=0) & (old[1] > 0) & (new[1] > 0)
    flagged = float(bool(after["flags"])) - float(bool(before["flags"]))
    lost = float(after["lost"] - before["lost"]) / old.shape[1]
    if not known.any():
        return Effect(0.0, 0.0, 0.0, flagged, lost)
    (errors, widths, halves), (errors_after, widths_after, halves_after) = old[:, known], new[:, known]
    squares, squares_after = (np.minimum(np.abs(each / widths), FAR) ** 2 for each in (errors, errors_after))
    held = np.mean(np.abs(halves_after) <= 1) - np.mean(np.abs(halves) <= 1)
    length = np.mean(np.log(widths_after / widths))
    return Effect(float(np.mean(squares_after - squares)) / 2, float(length), float(held), flagged, lost)


def told(before: dict[str, Record], after: dict[str, Record]) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Fits that a change made again, those that differ, and mean effects with their Monte Carlo errors.

    Fits that did not read the number have no effect, and count.
    """
    changed = [seed for seed, each in after.items() if each != before[seed]]
    effects = [each for seed in changed if (each := effect(before[seed], after[seed])) is not None]
    rows = np.zeros((len(before), len(Effect._fields)))
    rows[: len(effects)] = np.array(effects).reshape(-1, rows.shape[1])
    usual = np.mean([square for each in before.values() if (square := square_of(each)) is not None])
    rows[:, 0] /= usual
    return len(after), len(changed), rows.mean(axis=0), rows.std(axis=0, ddof=1) / math.sqrt(len(rows))


def square_of(score: Record) -> float | None:
    """Mean square error of a fit, in its own standard errors."""
    if "halves" not in score:
        return None
    pairs = [pair for pair in zip(score["errors"], score["widths"], strict=True) if None not in pair]
    return float(np.mean([min(abs(e / w), FAR) ** 2 for e, w in pairs if w > 0])) if pairs else None


def report(records: list[Record], before: dict[str, Record], numbers: dict[str, Number], unread: int) -> str:
    """A table of what each change did."""
    rows = []
    for record in records:
        again, changed, means, errors = told(before, record["scores"])
        faults = sum("halves" not in each for each in record["scores"].values())
        value = numbers[record["number"]].value
        shown = f"{len(value)} values" if isinstance(value, tuple) else f"{value:.4g}"
        cells = [f"{100 * mean:+.1f} +- {100 * error:.1f}" for mean, error in zip(means, errors, strict=True)]
        cells = [cell if changed else "" for cell in cells]
        if faults > sum("halves" not in before[seed] for seed in record["scores"]):
            cells[0] = "refused"
        rows.append((record["number"], shown, record["change"], again, changed, *cells))
    rows.sort(key=lambda row: (-row[4], row[0]))
    fits = [square for each in before.values() if (square := square_of(each)) is not None]
    read, moved = {row[0] for row in rows}, {row[0] for row in rows if row[4]}
    return "\n".join(
        [
            f"{len(before)} fits; mean square error {np.mean(fits):.2f} squared standard errors",
            f"{len(read)} numbers read, of which {len(read - moved)} changed no fit; "
            f"{unread} not read or not asked for",
            "error (root mean square), length, intervals held, fits flagged, intervals lost: change in %",
            "",
            tabulate(rows, headers=HEADS, disable_numparse=True),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--route", required=True, help='of designs, such as "ols gaussian" or "logit pure"')
    parser.add_argument("--folders", nargs="+", default=FOLDERS, help="of dpstats, whose constants vary")
    parser.add_argument("--only", nargs="+", default=[""], help="texts in the names of numbers")
    parser.add_argument(
        "--set", nargs="+", default=[], help="such as newton.bounds._ROOM=4, in the place of all"
    )
    parser.add_argument("--fits", type=int, default=60)
    parser.add_argument("--rows", type=int, default=12_000, help="of a design, at most")
    parser.add_argument("--seed", type=int, default=1, help="of the first design that is tried")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=WORK)
    options = parser.parse_args()
    given_values = [tuple(text.split("=", 1)) for text in options.set]
    until, top = time.monotonic() + 60 * options.minutes, header(work=options.work)
    for name in NEEDED:
        importlib.import_module(name)
    assert not any(name.startswith("dpstats") for name in sys.modules)
    assert PACKAGE == ROOT / "dpstats", "another copy of the package would be imported"
    listed = {str(number): number for folder in options.folders for number in found(folder)}
    with multiprocessing.get_context("fork").Pool(options.jobs, maxtasksperchild=1) as pool:
        given = options.route, options.rows, options.fits, options.seed
        seeds = pool.apply(chosen, given)
        fits = dict(zip(seeds, pool.apply(traced, (seeds,)), strict=True))
        before, made = {str(seed): score for seed, (score, _) in fits.items()}, Names().made()
        tasks = []
        for key, number in listed.items():
            names = names_of(number, made)
            read = [seed for seed, (_, known) in fits.items() if names & set(known)]
            changes = [f"= {value}" for name, value in given_values if name == key]
            if read and any(text in key for text in options.only):
                tasks += [(number, change, read) for change in (changes if given_values else number.changes)]
        wanted = {(str(number), change) for number, change, _ in tasks}
        path = options.work / f"ablation-{'-'.join(map(str, given))}-{estimator()}.jsonl".replace(" ", "-")
        records = done(path, partial(pool.imap_unordered, tried), tasks, options.jobs, until)
    unread = len(listed) - len({key for key, _ in wanted})
    print(top)
    print(
        report(
            [each for each in records if (each["number"], each["change"]) in wanted], before, listed, unread
        )
    )


def done(
    path: Path, each: Callable[[list[Task]], Iterator[Record]], tasks: list[Task], some: int, until: float
) -> list[Record]:
    """Records of changes; what is in the file already is not done again, and none begins after the time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    known = {(record["number"], record["change"]) for record in records}
    left = [task for task in tasks if (str(task[0]), task[1]) not in known]
    with path.open("a") as file, tqdm(total=len(tasks), initial=len(tasks) - len(left), mininterval=5) as bar:
        while left and time.monotonic() < until:
            for record in each(left[:some]):
                file.write(json.dumps(record) + "\n")
                file.flush()
                records.append(record)
                bar.update()
            left = left[some:]
    return records


if __name__ == "__main__":
    main()

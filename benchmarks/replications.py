"""Replications that survive an interruption: each finished one is a line of its task's file.

What is there already is not done again, so a run may be stopped, resumed, enlarged or spread at will.
"""

import argparse
import fnmatch
import json
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from provenance import estimator
from tqdm import tqdm


class Named(Protocol):
    @property
    def name(self) -> str: ...


C = TypeVar("C", bound=Named)
Task = tuple[C, float, int, Path]
Lines = list[dict[str, Any]]
WORK = Path(__file__).parent / ".work"


def arguments(parser: argparse.ArgumentParser, group: str, reps: int) -> None:
    """The options that every study has."""
    parser.add_argument("cells", nargs="*", default=[group], help="groups, or patterns of names")
    parser.add_argument("--list", action="store_true", help="print groups and cells, and stop")
    parser.add_argument("--reps", type=int, default=reps)
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--jobs", type=int, default=1)


def chosen(known: Mapping[str, list[C]], patterns: list[str]) -> list[C]:
    """Cells of the groups named, and those whose names match a pattern."""
    every = [cell for group in known.values() for cell in group]
    cells = []
    for pattern in patterns:
        cells += known.get(pattern) or [cell for cell in every if fnmatch.fnmatch(cell.name, pattern)]
    if not cells:
        sys.exit(f"no cell matches {' '.join(patterns)}; groups are {', '.join(known)}")
    return list(dict.fromkeys(cells))


def show(known: Mapping[str, list[C]]) -> None:
    for group, cells in known.items():
        print(group, *(cell.name for cell in cells), sep="\n  ")


def replicate_all(
    one: Callable[[Task[C]], dict[str, Any]],
    cells: list[C],
    levels: list[float],
    options: argparse.Namespace,
    study: str = "",
) -> dict[tuple[C, float], Lines]:
    """Do what is missing and return all lines of each cell at each level of the budget.

    Parameters
    ----------
    one : callable
        Of a task; returns what is to be kept. It must be a function of a module, or a partial one.
    cells : list
    levels : list of float
        Of the budget.
    options : argparse.Namespace
        With reps, work and jobs.
    study : str
        Name of a folder that keeps these files apart from those of the same cells in another study.
    """
    folder = options.work / estimator() / study
    folder.mkdir(parents=True, exist_ok=True)
    paths = {(cell, level): folder / f"{cell.name}-{level:g}.jsonl" for cell in cells for level in levels}
    tasks = list(_missing(paths, options.reps))
    with multiprocessing.Pool(options.jobs) as pool:
        done = pool.imap_unordered(_Kept(one), tasks)
        list(tqdm(done, total=len(tasks), disable=None))
    return {key: _finished(path)[: options.reps] for key, path in paths.items()}


class _Kept:
    """Does one task and appends its line; one write, so that lines of two processes never mix."""

    def __init__(self, one: Callable[[Task[C]], dict[str, Any]]) -> None:
        self.one = one

    def __call__(self, task: Task[C]) -> None:
        line = {"rep": task[2], **self.one(task)}
        with task[3].open("a") as file:
            file.write(json.dumps(line) + "\n")


def _finished(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _missing(paths: Mapping[tuple[C, float], Path], reps: int) -> Iterator[Task[C]]:
    done = {path: {line["rep"] for line in _finished(path)} for path in paths.values()}
    for rep in range(reps):  # all cells grow together, so that an interrupted run says something of each
        for (cell, level), path in paths.items():
            if rep not in done[path]:
                yield cell, level, rep, path

"""A slice of benchmarks/fuzz.py: spoiled files never do more to a reader than make it refuse them.

The files are spoiled by a generator whose seed is drawn anew on each run and told where a test fails.
"""

import pickle
import random
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fuzz_targets import TARGETS
from benchmarks.fuzzing import SECRET, Fault, Watch, check, spoiled
from dpstats.errors import DataError
from dpstats.moments.mixture import LAWS, Tails

INPUTS = 30


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


@pytest.mark.parametrize("name", TARGETS)
def test_spoiled_files_are_refused_or_read(name: str, watch: Watch, tmp_path: Path) -> None:
    target, seed = TARGETS[name], random.SystemRandom().randrange(2**32)
    corpus, draw = target.corpus(tmp_path), random.Random(seed)
    for data in corpus:
        with warnings.catch_warnings(action="ignore"):
            target.read(_written(tmp_path / f"case.{name}", data))  # loads what it needs
        assert check(target, data, tmp_path, watch), "a valid file is refused"
    for number in range(INPUTS):
        data = spoiled(corpus, draw)
        try:
            check(target, data, tmp_path, watch)
        except Fault as fault:
            raise AssertionError(f"seed {seed}, input {number}, {data[:200]!r}") from fault


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


class Canary:
    """Runs where something unpickles it."""

    def __reduce__(self):
        return eval, ("1 + 1",)


def unpickles(path: Path) -> None:
    pickle.loads(path.read_bytes())


def evaluates(path: Path) -> None:
    eval(path.read_text())


def writes(path: Path) -> None:
    Path(__file__).with_name("written").open("a").close()


@pytest.mark.parametrize(
    ("read", "data"),
    [(unpickles, pickle.dumps(Canary())), (evaluates, b"1 + 1"), (writes, b"")],
    ids=["unpickles", "evaluates", "writes"],
)
def test_a_reader_that_runs_or_changes_something_is_caught(
    read, data, watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # the checkout may lie among temporary files
    try:
        with pytest.raises(Fault, match=r"did .*(exec|find_class|open)"):
            check(replace(TARGETS["fit.json"], read=read), data, tmp_path, watch)
    finally:
        Path(__file__).with_name("written").unlink(missing_ok=True)


def tells(path: Path) -> None:
    raise DataError(f"cannot read {path.read_bytes()!r}")


def tells_by_its_cause(path: Path) -> None:
    try:
        float(path.read_text())
    except ValueError:
        raise DataError("cannot read it")  # noqa: B904  the fault: the cause quotes the cell


def crashes(path: Path) -> None:
    raise KeyError(3)


@pytest.mark.parametrize(
    ("read", "what"), [(tells, "told a cell"), (tells_by_its_cause, "told a cell"), (crashes, "KeyError")]
)
def test_a_reader_that_tells_or_crashes_is_caught(read, what: str, watch: Watch, tmp_path: Path) -> None:
    with pytest.raises(Fault, match=what):
        check(replace(TARGETS["csv"], read=read), b"x\n" + SECRET.encode(), tmp_path, watch)


@pytest.mark.parametrize("law", LAWS)
def test_a_part_of_the_noise_larger_than_the_whole_has_an_interval(law: str) -> None:
    """A saved fit may say so; that was an exception in its table."""
    widths = Tails(law, 3, np.array([1e30, np.inf])).half_widths(0.95, np.eye(2))
    assert np.isfinite(widths).all() and (widths > 1).all()

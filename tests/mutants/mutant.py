"""What a planted fault is, and how one is planted and looked for."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONGEST = 600.0  # seconds that the tests of one mutant may take
_COPIED = ("dpstats", "tests", "benchmarks", "setup.cfg", "pyproject.toml", "README.md", "docs")


@dataclass(frozen=True)
class Edit:
    """One exact replacement in a file of the package; `old` occurs in it once."""

    file: str
    old: str
    new: str

    def applied(self, package: Path) -> str:
        """The text of the file with the fault; ValueError unless it applies exactly once."""
        text = (package / self.file).read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has {text.count(self.old)} places that read\n{self.old}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Mutant:
    """A planted fault.

    Attributes
    ----------
    what : str
        The fault and where it was seen, in one line.
    tests : tuple of str
        Ids of the tests that turn red, below ``tests/``.
    edits : tuple of Edit
    """

    what: str
    tests: tuple[str, ...]
    edits: tuple[Edit, ...]


def planted(what: str, tests: str | tuple[str, ...], *edits: tuple[str, str, str]) -> Mutant:
    """A mutant; edits are (file below dpstats/, old text, new text)."""
    named = (tests,) if isinstance(tests, str) else tests
    return Mutant(what, named, tuple(Edit(*edit) for edit in edits))


class Bench:
    """A copy of the project in which mutants are planted one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in _COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder / name)
        # compiled by contents: a file that is changed back within a second must be read again
        command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "."]
        subprocess.run(command, cwd=folder, check=True)

    def outcome(self, mutant: Mutant | None, tests: tuple[str, ...] = ()) -> tuple[str, float]:
        """ "killed", "survived" or what else happened, and seconds; without a mutant, of these tests."""
        package, edits = self.folder / "dpstats", mutant.edits if mutant else ()
        before = {edit.file: (package / edit.file).read_text() for edit in edits}
        start = time.monotonic()
        try:
            for edit in edits:
                text = edit.applied(package)
                (package / edit.file).write_text(text)
            code = self._run(mutant.tests if mutant else tests)
        except ValueError as error:
            return f"does not apply: {str(error).splitlines()[0]}", 0.0
        finally:
            for file, text in before.items():
                (package / file).write_text(text)
        said = {0: "survived", 1: "killed", 4: "no such test", None: "took too long"}
        return said.get(code, "broke the tests"), time.monotonic() - start

    def _run(self, tests: tuple[str, ...]) -> int | None:
        options = ["-n", "0", "-q", "-x", "-m", "", "-p", "no:cacheprovider", "--no-header"]
        command = [sys.executable, "-m", "pytest", *options, *(f"tests/{test}" for test in tests)]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(self.folder)}
        try:
            return subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                timeout=LONGEST,
                check=False,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ).returncode
        except subprocess.TimeoutExpired:
            return None

"""The import contracts of `.importlinter` hold, and each of them notices a violation."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PLANTED = {
    "budget/kinds.py": "import dpstats.formula",
    "results/released.py": "import dpstats.curator",
    "estimators/__init__.py": "import dpstats.rows\nimport dpstats.curator.mechanisms",
    "models/__init__.py": "import opendp",
    "contributions/__init__.py": "import dpstats.contributors.message",
}


def contracts(folder: Path) -> dict[str, str]:
    """KEPT or BROKEN for each contract, for the package in `folder`."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    run = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False
    )
    found = dict(re.findall(r"^(.+?) (KEPT|BROKEN)", run.stdout, re.MULTILINE))
    assert found, run.stdout + run.stderr
    assert (run.returncode == 0) == (set(found.values()) == {"KEPT"})
    return found


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("data", "__pycache__")
    shutil.copytree(ROOT / "dpstats", tmp_path / "dpstats", ignore=ignored)
    shutil.copy(ROOT / ".importlinter", tmp_path)
    return tmp_path


def test_contracts_hold(copy: Path) -> None:
    assert set(contracts(copy).values()) == {"KEPT"}


def test_every_contract_notices_a_violation(copy: Path) -> None:
    for name, line in PLANTED.items():
        path = copy / "dpstats" / name
        path.write_text(path.read_text() + f"\n{line}\n")
    assert set(contracts(copy).values()) == {"BROKEN"}


def test_a_new_module_must_be_given_a_floor(copy: Path) -> None:
    (copy / "dpstats" / "elsewhere.py").write_text("")
    assert contracts(copy)["Imports go down only"] == "BROKEN"

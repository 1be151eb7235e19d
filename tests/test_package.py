"""The installed package: its version, its licence, and that importing it does nothing."""

import subprocess
import sys
from importlib import metadata

import dpstats


def test_installed_version_is_the_packages_own() -> None:
    assert metadata.version("dpstats") == dpstats.__version__


def test_import_prints_nothing_and_leaves_numpy_options_alone() -> None:
    code = (
        "import numpy, pandas, patsy, scipy.stats, warnings;"
        "state = lambda: (numpy.geterr(), numpy.get_printoptions(), list(warnings.filters));"
        "before = state(); import dpstats; assert before == state()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_every_public_name_exists() -> None:
    assert all(hasattr(dpstats, name) for name in dpstats.__all__)

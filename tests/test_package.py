"""The installed package: its version, its licence, and that importing it does nothing."""

import ast
import importlib
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import dpstats
from dpstats._lacking import OTHER_NAMES


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


def test_every_public_name_exists_and_is_what_type_checkers_are_told() -> None:
    stub = ast.parse(Path(dpstats.__file__).with_suffix(".pyi").read_text())
    told: dict[str, object] = {}
    for line in stub.body:
        if isinstance(line, ast.ImportFrom):
            home = importlib.import_module(str(line.module))
            told |= {name.asname or name.name: getattr(home, name.name) for name in line.names}
    assert {name: getattr(dpstats, name) for name in dpstats.__all__} == told
    assert set(told) <= set(dir(dpstats))
    with pytest.raises(AttributeError, match="module 'dpstats' has no attribute 'lm'"):
        getattr(dpstats, "lm")  # noqa: B009


def test_import_and_help_load_nothing_that_they_do_not_use() -> None:
    heavy = {"numpy", "pandas", "scipy", "statsmodels", "pyarrow", "opendp", "matplotlib", "patsy"}
    for code in "import dpstats", "from dpstats.cli.options import parser; parser().format_help()":
        run = subprocess.run(
            [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert not heavy & set(run.stdout.split())


def test_models_load_the_solvers_of_scipy_where_a_fit_needs_them() -> None:
    names = ("ols", "logit", "glm", "svm", "survreg", "coxph", "kaplan_meier", "describe")
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys, dpstats; {', '.join(f'dpstats.{name}' for name in names)}; print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    solvers = {"integrate", "interpolate", "linalg", "ndimage", "optimize", "stats"}
    assert not {"statsmodels", *(f"scipy.{name}" for name in solvers)} & set(run.stdout.split())


def test_what_is_forgotten_or_misspelt_is_said_with_its_remedy() -> None:
    import dpstats as dps

    for call, says in (
        *[
            (lambda make=make: make(1, 1e-6), r"with a delta it is dps.approx\(epsilon, delta\)")
            for make in (dps.pure, dps.zcdp, dps.gdp)
        ],
        (lambda: dps.approx(1), "delta is far below 1 / number of rows"),
        (lambda: dps.ols("y ~ x", {"y": [1.0]}), "schema is what is public"),
        (lambda: dps.glm("y ~ x", None, dps.Schema()), "family is 'binomial'"),
        (lambda: dps.bounded(0), "upper is the public upper bound"),
        (lambda: dps.logit("y ~ x", None, dps.Schema(), link="probit"), "'binomial', link='probit'"),
        (
            lambda: dps.glm("y ~ x", None, dps.Schema(), "nb", alpha=1),
            "said as family=.negativebinomial.alpha=0.5",
        ),
        (lambda: dps.svm("y ~ x", None, dps.Schema(), weights="w"), "this model takes no weights"),
        (lambda: dps.survreg("Surv(t) ~ x", None, dps.Schema(), shape=2), "1 / scale, .* is scale=0.5"),
        (lambda: dps.plan(None, dps.pure(1), 9, beta=1.5), "1 / scale"),
        (
            lambda: dps.ols("y ~ 1", None, dps.Schema(y=dps.bounded(0, 1))).fit(dps.gdp(1), weights="w"),
            "goes to the model",
        ),
        (lambda: dps.logit(), "; formula is a text such .*; data is a frame.*; schema is what is public"),
        (lambda: dps.bounded(min=0, max=1), "it is lower= here"),
        (lambda: dps.flag(truth=1), "did you mean true=. flag takes true, false$"),
        (lambda: dps.levels("a", "b", reference="b"), "the level that is named first is the reference"),
        (lambda: dps.ridge("y ~ x", None, dps.Schema(), lam=1), "it is alpha= here"),
        (
            lambda: dps.kaplan_meier("Surv(t) ~ 1", None, {}, conf_type="log"),
            "kaplan_meier takes formula, data",
        ),
        (lambda: dps.read_csv("d.csv", delimiter=";"), "it is sep= here"),
        (lambda: dps.ols("y ~ 1", None, dps.Schema(y=dps.bounded(0, 1))).fit(epsilon=1), "is one argument"),
        (lambda: dps.ols("y ~ 1", None, dps.Schema(y=dps.bounded(0, 1))).fit(), "budget is the privacy"),
    ):
        with pytest.raises(TypeError, match=says):
            call()
    with pytest.raises(AttributeError, match="did you mean 'survreg'"):
        _ = dps.surverg


def test_a_name_at_the_top_of_another_package_says_what_to_write() -> None:
    for name, instead in OTHER_NAMES.items():
        assert name not in dpstats.__all__
        with pytest.raises(AttributeError, match=re.escape(f"no attribute {name!r}: write {instead}")):
            getattr(dpstats, name)
        assert all(hasattr(dpstats, one) for one in re.findall(r"dps\.(\w+)", instead))


@pytest.mark.parametrize("name", ["params", "summary", "predict", "conf_int", "median"])
def test_a_model_that_is_not_fitted_says_so(name: str) -> None:
    schema = dpstats.Schema(y=dpstats.bounded(0, 1), failed=dpstats.event(), g=dpstats.flag())
    data = {"y": [0.5, 1.0], "failed": [0, 1], "g": [0, 1]}
    for model in (
        dpstats.ols("y ~ g", data, schema),
        dpstats.svm("g ~ y", data, schema),
        *(fitter("Surv(y, failed) ~ g", data, schema) for fitter in (dpstats.coxph, dpstats.kaplan_meier)),
    ):
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'; .* its fit: fit = model\.fit"):
            getattr(model, name)
        assert not hasattr(model, "_repr_html_")

"""Kinds of fits: each has what works on it and no more; what was saved earlier becomes the right one."""

import ast
import inspect
import json
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats import results, testing
from dpstats.errors import NotReleased
from dpstats.families import DISTS
from dpstats.results import (
    NOT_RELEASED,
    CurveFit,
    Fit,
    GlmFit,
    HazardFit,
    LinearFit,
    SurvivalFit,
    SvmFit,
    load,
)
from dpstats.results.document import Shown
from dpstats.results.table import Marked
from tests.results.every import EVERY
from tests.results.fits import capacitor
from tests.results.glms import glm
from tests.results.linear import linear

SAVED = Path(__file__).parent / "saved"
KINDS = {
    "survreg": SurvivalFit,
    "ols": LinearFit,
    "ridge": LinearFit,
    "logit": GlmFit,
    "poisson": GlmFit,
    "gamma": GlmFit,
    "svm": SvmFit,
    "coxph": HazardFit,
}
FILES = sorted(path.stem for path in SAVED.glob("*.json"))
OF_RECORD = ("record", "to_dict", "from_dict", "save", "load")
OF_TERMS = ("drop", "update")  # of a formula with more terms than one: test_reduced.py


def kind_of(file: str) -> type:
    return CurveFit if file == "kaplan_meier" else KINDS[file.split("_")[0]]


@pytest.mark.parametrize("file", FILES)
def test_what_was_saved_before_there_were_kinds_is_read_and_prints_as_any_fit(file: str) -> None:
    """The fits were saved when one class had all methods; the text is what they print now."""
    path, kind = SAVED / f"{file}.json", kind_of(file)
    fit = load(path)
    assert type(fit) is kind and fit.to_dict() == json.loads(path.read_text())
    printed = fit if kind is CurveFit else fit.summary()
    assert f"{fit!r}\n\n{printed}\n" == (SAVED / f"{file}.txt").read_text()


def test_there_is_a_saved_fit_of_each_kind() -> None:
    assert {kind_of(file) for file in FILES} == {*KINDS.values(), CurveFit} and len(FILES) >= 20


@pytest.mark.parametrize("model", EVERY)
def test_tab_completion_shows_what_works(model: str) -> None:
    """Every name that is shown is there, and each method that needs nothing but a point runs."""
    fit, at = EVERY[model]
    names = [name for name in dir(fit) if not name.startswith("_")]
    assert not {*NOT_RELEASED} - {"rsquared", "rsquared_adj"} & {*names}
    for name in names:
        found = getattr(fit, name)
        if not callable(found) or name.startswith("plot") or name in (*OF_RECORD, *OF_TERMS):
            continue
        given = arguments(fit, at, found)
        if given is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found(**given)


def arguments(fit: Fit, at: dict[str, Any], function: Any) -> dict[str, Any] | None:
    """Good arguments; None for a method that needs a factor, where there is none."""
    time = 100.0 if fit.record.is_survival else 1.0
    factor = next((name for name, value in at.items() if isinstance(value, str)), None)
    known = {
        "newdata": at,
        "use": at,
        "stress": at,
        "fleet": at | {"age": time},
        "horizon": time,
        "times": time,
        "y": [time],
        "hypothesis": f"{fit.names[1]} = 0",
        "term": factor,
        "alpha": 0.1 if function.__name__ == "at_alpha" else 0.05,
    }
    if fit.record.is_survival and not DISTS[fit.record.dist].log and function.__name__ == "summary":
        del known["use"]  # there are no acceleration factors of time itself
    asked = {name: known[name] for name in inspect.signature(function).parameters if name in known}
    return None if "term" in asked and factor is None else asked


ONLY = {
    "life": ["survreg-weibull", "survreg-gaussian"],
    "shape": ["survreg-weibull", "survreg-lognormal"],
    "time_ratios": ["survreg-loglogistic"],
    "hazard_ratios": ["survreg-weibull", "coxph"],
    "survival": ["coxph"],
    "sigma": ["survreg-sev", "ols", "ridge", "glm-gaussian"],
    "ridge_path": ["ols", "ridge"],
    "rsquared": ["ols", "ridge"],
    "odds_ratios": ["logit"],
    "rate_ratios": ["glm-poisson"],
    "mean_ratios": ["glm-gamma"],
    "dispersion": ["glm-gamma", "glm-gaussian"],
    "decision_function": ["svm"],
    "marginal_effects": ["ols", "logit", "svm"],
    "simulate": ["survreg-weibull", "ols", "logit", "glm-poisson"],
}
NEVER = {
    "life": ["ols", "svm"],
    "shape": ["survreg-sev", "logit"],
    "time_ratios": ["survreg-logistic", "ols"],
    "hazard_ratios": ["survreg-loglogistic", "svm"],
    "survival": ["survreg-weibull", "ols"],
    "sigma": ["logit", "glm-poisson", "svm"],
    "ridge_path": ["survreg-weibull", "logit"],
    "rsquared": ["survreg-weibull", "glm-gaussian"],
    "odds_ratios": ["glm-poisson", "ols"],
    "rate_ratios": ["logit", "survreg-weibull"],
    "mean_ratios": ["glm-poisson", "svm"],
    "dispersion": ["logit", "glm-poisson", "ols"],
    "decision_function": ["ols", "logit"],
    "marginal_effects": ["survreg-weibull", "coxph"],
    "simulate": ["svm", "coxph"],
}


@pytest.mark.parametrize("name", ONLY)
def test_what_only_some_fits_have_is_shown_by_these_alone(name: str) -> None:
    for model in ONLY[name]:
        assert name in dir(EVERY[model][0]) and hasattr(EVERY[model][0], name)
    for model in NEVER[name]:
        fit = EVERY[model][0]
        assert name not in dir(fit) and not hasattr(fit, name)
        with pytest.raises(NotReleased, match=f"^'{name}' .*[.] .*[.]$"):
            getattr(fit, name)


def test_the_number_of_failures_lies_between_none_and_all() -> None:
    few, most = (capacitor(nevents=(value, 5.0, 5.0)).nevents for value in (4.0, 62.0))
    assert few.conf_low == 0 and most.conf_high == 64
    assert few.conf_high == pytest.approx(4 + 9.8, abs=0.01) and most.conf_low == pytest.approx(
        62 - 9.8, abs=0.01
    )
    assert capacitor(nevents=(10.0, 5.0, 5.0)).nevents.conf_low == 0  # as few as noise lets a fit say
    assert capacitor(nevents=(10.1, 5.0, 5.0)).nevents.conf_low == pytest.approx(0.3, abs=0.01)
    more = capacitor(nevents=(80.0, 5.0, 5.0)).nevents
    assert (more.estimate, more.conf_high) == (64, 64) and more.conf_low == pytest.approx(64 - 9.8, abs=0.01)
    kept = capacitor(nevents=(30.0, 5.0, 5.0))
    assert type(kept).from_dict(kept.to_dict()).nevents == kept.nevents
    assert "nevents" in dir(kept) and "nevents" not in dir(capacitor())


def test_what_was_released_decides_within_a_kind() -> None:
    likely = capacitor(loglik=(-400.0, 3.0, 3.0))
    assert {"llf", "aic", "bic"} <= {*dir(likely)} and not {"llf", "aic", "bic"} & {*dir(capacitor())}
    assert "bic" not in dir(capacitor(loglik=(-400.0, 3.0, 3.0), nobs=None))
    moments = {"sigma", "rsquared", "at_alpha", "ridge_path", "plot_ridge_path", "simulate"}
    assert moments <= {*dir(linear())} and not moments & {*dir(linear(linear=None))}
    for fit in (linear(weights="unused"), glm("gamma", dispersion=None)):
        assert "simulate" not in dir(fit)


def test_a_fit_of_a_model_that_no_kind_names_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As one is whose kind is forgotten: it was read as a fit without what its kind has."""
    path = tmp_path / "fit.json"
    linear().save(path)
    monkeypatch.delitem(Fit._kinds, "ols")
    for read in (load, Fit.load, lambda path: Fit.from_dict(json.loads(path.read_text()))):
        with pytest.raises(dps.SpecificationError, match="no fits of 'ols', but of .*svm; a newer one may"):
            read(path)


def test_the_folder_of_results_has_all_kinds() -> None:
    """`dps.load` knows the kinds of modules that `results/__init__.py` names, and of no other."""
    folder = Path(results.__file__).parent
    kinds = [
        node.name
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and any(word.arg == "models" for word in node.keywords)
    ]
    assert len(kinds) >= 5 and {*kinds} <= {*results.__all__}


def test_a_fit_of_a_model_cannot_be_of_another_kind() -> None:
    fields = {"formula": "y ~ x", "names": (), "model": "svm"}
    with pytest.raises(dps.SpecificationError, match="a fit of svm is a SvmFit, not a LinearFit"):
        LinearFit(**fields)


def test_another_penalty_gives_a_fit_of_the_same_kind() -> None:
    assert type(linear().at_alpha(1.0)) is LinearFit


def test_names_of_methods_have_their_documents_and_help() -> None:
    for kind in (LinearFit, GlmFit, SurvivalFit, SvmFit, CurveFit):
        members = {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}
        for name, member in members.items():
            if not inspect.ismemberdescriptor(member):
                assert inspect.getdoc(member), (kind, name)
    assert issubclass(GlmFit, dps.Fit) and "odds" in inspect.getdoc(GlmFit.odds_ratios)


def answers(fit: Any, at: dict[str, Any]) -> dict[str, Shown | Marked | pd.DataFrame | pd.Series]:
    """What is no plain value of its properties and of its methods with some arguments of these or none."""
    found: dict[str, Any] = {}
    null, factor = (f"{getattr(fit, 'names', ['x'])[-1]} = 0",), tuple(k for k, v in at.items() if v == "b")
    fleet, times = (at | {"age": 100.0}, 100.0), ([100.0],)
    for name in dir(fit):
        member = getattr(fit, name) if not name.startswith("_") and name not in OF_RECORD else None
        for given in (
            ((), (at,), (*times, at), null, factor, fleet, times, (30.0,)) if callable(member) else ()
        ):
            with suppress(Exception):
                found.setdefault(name, member(*given))
        found.setdefault(name, member)
    kinds = (Shown, Marked, pd.DataFrame, pd.Series)
    return {name: each for name, each in found.items() if isinstance(each, kinds)}


def curves_or_description(name: str) -> Any:
    """What is no fit of a regression, as if it were private."""
    rng = np.random.default_rng(1)
    data = {
        "x": rng.uniform(1, 200, 400),
        "z": rng.choice(["a", "b"], 400),
        "failed": rng.integers(0, 2, 400),
    }
    schema = dps.Schema(x=dps.bounded(1, 300), z=dps.levels("a", "b"), failed=dps.event())
    with testing.noise(testing.SeededNoise(1)):
        if name == "description":
            made: Any = dps.describe(data | {"y": data["x"]}, schema | {"y": schema["x"]}, dps.zcdp(2))
        else:
            made = dps.kaplan_meier("Surv(x, failed) ~ z", data, schema).fit(dps.zcdp(2))
    return type(made).from_dict(made.to_dict() | {"not_private": False})


ALSO = {"curves": {"frame", "table", "predict", "quantile", "rmst", "logrank"}}
ALSO |= {"description": {"frame", "tidy", "correlations", "summary"}}


@pytest.mark.parametrize("name", [*EVERY, *ALSO])
def test_every_answer_of_a_fit_that_is_not_private_says_so(name: str) -> None:
    fit, at = (curves_or_description(name), {}) if name in ALSO else EVERY[name]
    exposed = type(fit).from_dict(fit.to_dict() | {"not_private": True})
    with warnings.catch_warnings(action="ignore"):
        found, private = answers(exposed, at), answers(fit, at)
    asked = {
        "summary",
        "t_test",
        "wald_test",
        "wald_test_terms",
        "params",
        "tidy",
        "get_prediction",
        "predict",
    }
    asked |= {"t_test_pairwise"} if "b" in at.values() else set()
    asked |= {"forecast"} if "forecast" in dir(fit) else set()
    assert ALSO.get(name, asked) <= set(found) == set(private)
    for marked, plain in ((found[name], private[name]) for name in found):
        if isinstance(marked, Shown | Marked):
            assert "NOT PRIVATE" in str(marked) and "NOT PRIVATE" not in str(plain)
        if isinstance(marked, Shown):
            for written in (marked.as_html, marked.as_csv, marked.as_markdown, marked.as_latex):
                assert "NOT PRIVATE" in written()
        frame = (
            marked.summary_frame() if hasattr(marked, "summary_frame") else getattr(marked, "frame", marked)
        )
        assert not isinstance(frame, pd.DataFrame | pd.Series) or "NOT PRIVATE" in frame.attrs["banner"]

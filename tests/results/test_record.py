"""What a fit may hold, that it cannot be changed, and that nothing private is in it."""

import copy
import gc
import json
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import FunctionType, MethodType, ModuleType

import numpy as np
import pandas as pd
import pytest

from dpstats.errors import NotReleased, SpecificationError
from dpstats.results import NOT_RELEASED, Fit, load
from tests.disk import full_disk
from tests.results.every import OF_TIME
from tests.results.fits import CAPACITOR_COV, CAPACITOR_PARAMS, USE, capacitor, wide
from tests.results.linear import linear

ROWS = 1201  # prime, and unlike any number of coefficients
SENTINEL = 234.56789


@pytest.mark.parametrize("name", NOT_RELEASED)
def test_what_is_not_released_says_why_and_what_instead(name: str) -> None:
    fit = capacitor()
    assert not hasattr(fit, name)
    with pytest.raises(NotReleased) as caught:
        getattr(fit, name)
    reason, instead = NOT_RELEASED[name]
    assert str(caught.value) == f"'{name}' {reason}. {instead}"
    assert instead.endswith(".") and not reason.endswith(".")


@pytest.mark.parametrize("name", ["endog", "exog", "data"])
def test_the_model_has_names_but_no_data(name: str) -> None:
    model = capacitor().model
    assert model.exog_names == list(capacitor().names)
    with pytest.raises(NotReleased):
        getattr(model, name)


def test_what_never_existed_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'") as caught:
        _ = capacitor().nonsense
    assert not isinstance(caught.value, NotReleased)


@pytest.mark.parametrize("method", ["predict", "get_prediction", "augment", "life", "eta", "mttf"])
def test_training_rows_are_never_predicted(method: str) -> None:
    with pytest.raises(NotReleased, match="voltage, temperature"):
        getattr(capacitor(), method)()


def other_model(**changes: object) -> Fit:
    fields = {
        "model": "ols",
        "dist": "laplace",
        "formula": "time ~ voltage + temperature",
        "names": ("Intercept", "voltage", "temperature"),
        "params": [1.0, 2, 3],
        "cov": np.eye(3),
        "cov_privacy": np.eye(3) / 2,
        "settings": {},
        "title": "median regression",
    }
    return capacitor(**{**fields, **changes})


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("shape", "needs a time-to-failure model, and this is ols"),
        ("sigma", "not released by this ols"),
    ],
)
def test_survival_properties_are_absent_from_other_models(name: str, why: str) -> None:
    assert not hasattr(other_model(), name)
    with pytest.raises(NotReleased, match=why):
        getattr(other_model(), name)


@pytest.mark.parametrize("name", OF_TIME)
def test_survival_methods_are_refused_by_other_models(name: str) -> None:
    with pytest.raises(NotReleased, match="time-to-failure|a regression of hazards"):
        getattr(other_model(), name)()


def test_other_models_have_everything_else() -> None:
    fit = other_model()
    assert fit.predict(USE)[0] == pytest.approx(1 + 2 * 200 + 3 * 170)
    assert list(fit.tidy()["component"]) == ["location"] * 3
    assert "Private median regression" in str(fit.summary()) and "sigma" not in str(fit.summary())
    assert fit.wald_test("voltage = 0").pvalue == pytest.approx(0.0455, abs=1e-4)
    with pytest.raises(NotReleased, match="time-to-failure"):
        fit.predict(USE, type="quantile")


def test_a_fit_cannot_be_changed() -> None:
    fit = capacitor()
    for name in ("record", "params", "anything"):
        with pytest.raises(FrozenInstanceError):
            setattr(fit, name, 1)
    with pytest.raises(FrozenInstanceError):
        del fit.record
    with pytest.raises(FrozenInstanceError):
        fit.record.formula = "y ~ 1"
    for array in (fit.record.params, fit.record.cov, fit.record.cov_privacy):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        fit.settings["R"] = 0
    before = fit.to_dict()
    params, cov = fit.params, fit.cov_params()
    params.iloc[0] = cov.iloc[0, 0] = 99
    assert fit.to_dict() == before
    assert not hasattr(fit, "__dict__")


def reachable(root: object) -> list[object]:
    """Everything a fit leads to, following containers, closures and array bases; not code or classes."""
    seen: dict[int, object] = {}
    stack = [root]
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, type | ModuleType):
            continue
        seen[id(item)] = item
        if isinstance(item, FunctionType):
            stack += [cell.cell_contents for cell in item.__closure__ or ()]
        elif isinstance(item, MethodType):
            stack += [item.__self__, item.__func__]
        else:
            stack += gc.get_referents(item)
            if isinstance(item, np.ndarray) and item.base is not None:
                stack.append(item.base)
    return list(seen.values())


def test_nothing_private_is_in_a_fit(tmp_path: Path) -> None:
    """A fit made in the presence of rows: no array as long as them, no value of theirs in any rendering."""
    rows = np.full((ROWS, 4), SENTINEL)
    # views into a larger block, as an estimator might pass by mistake
    rows[:4], rows[4] = CAPACITOR_COV, CAPACITOR_PARAMS
    fit = capacitor(nobs=len(rows), cov=rows[:4], params=rows[4])
    fit.save(tmp_path / "fit.json")
    everything = reachable(fit)
    assert any(item is fit.record.params for item in everything), "the walk must see the arrays of the fit"
    for item in everything:
        if isinstance(item, np.ndarray):
            assert ROWS not in item.shape
        assert not isinstance(item, pd.DataFrame | pd.Series)
    texts = [repr(fit), fit._repr_html_(), str(fit.summary()), (tmp_path / "fit.json").read_text()]
    assert not any(str(SENTINEL) in text for text in texts)
    assert np.float64(SENTINEL).tobytes() not in pickle.dumps(fit)


def test_the_walk_would_find_hidden_rows() -> None:
    hidden = np.zeros((ROWS, 2))

    def closure() -> np.ndarray:
        return hidden

    view = [{"deep": (lambda: closure)}, hidden[:3].T]
    shapes = [item.shape for item in reachable(view) if isinstance(item, np.ndarray)]
    assert (ROWS, 2) in shapes


@pytest.mark.parametrize(
    "fit",
    [
        capacitor(),
        wide(),
        other_model(),
        capacitor(not_private=True, ledger=None),
        linear(),
        linear(0.5),
        linear(noise=2.0).at_alpha(0.3),
    ],
)
def test_save_and_load_are_exact(fit: Fit, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    fit.save(path)
    back = load(path)
    assert back.to_dict() == fit.to_dict()
    for name in ("params", "cov", "cov_privacy"):
        assert getattr(back.record, name).tobytes() == getattr(fit.record, name).tobytes()
    assert back.summary().as_html() == fit.summary().as_html() and repr(back) == repr(fit)
    assert json.loads(path.read_text())["format"] == "dpstats.fit/1"
    assert (back.budget, back.schema, back.flags) == (fit.budget, fit.schema, fit.flags)
    assert "Infinity" not in path.read_text() and "NaN" not in path.read_text()


def test_a_saved_fit_is_replaced_only_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    capacitor().save(path)
    kept = path.read_bytes()
    with pytest.raises(SpecificationError, match=r"fit\.json exists.*another name, or say overwrite=True"):
        wide().save(path)
    assert path.read_bytes() == kept
    wide().save(path, overwrite=True)
    assert load(path).to_dict() == wide().to_dict()
    with pytest.raises(SpecificationError, match=r"cannot be written \(No such file or directory\)"):
        wide().save(tmp_path / "nowhere" / "fit.json")


def test_a_save_that_fails_spoils_nothing_and_can_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    for before in (None, capacitor()):
        with full_disk(), pytest.raises(SpecificationError, match=r"\(File too large\); make room"):
            wide().save(path, overwrite=before is not None)
        assert [file.name for file in tmp_path.iterdir()] == ["fit.json"] * (before is not None)
        wide().save(path, overwrite=before is not None)
        assert load(path).to_dict() == wide().to_dict()
        path.unlink()
        capacitor().save(path)


def test_what_is_replaced_keeps_its_mode_and_a_link_leads_where_it_led(tmp_path: Path) -> None:
    path, link = tmp_path / "fit.json", tmp_path / "latest.json"
    capacitor().save(path)
    path.chmod(0o640)
    link.symlink_to(path)
    wide().save(link, overwrite=True)
    assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    assert load(path).to_dict() == wide().to_dict()


@pytest.mark.parametrize("name", ["fit.csv", "fit.json.gz", "fit.pkl", "fit"])
def test_a_name_promises_what_is_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match=r"does not end in \.json, and JSON is what is written"):
        capacitor().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda fit: pickle.loads(pickle.dumps(fit))])
def test_copies_are_equal(clone: Callable[[Fit], Fit]) -> None:
    assert clone(wide()).to_dict() == wide().to_dict()


def test_the_file_grows_with_the_square_of_the_coefficients_only(tmp_path: Path) -> None:
    sizes = []
    for nobs in (10, 10**9):
        path = tmp_path / f"{nobs}.json"
        capacitor(nobs=nobs).save(path)
        sizes.append(path.stat().st_size)
    assert sizes[1] - sizes[0] == 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "dpstats.fit/2"}, "upgrade dpstats"),
        ({"format": "lifelines.fit/1"}, "not a saved fit"),
        ({"format": None}, "not a saved fit"),
        ({"format": "dpstats.fit/" + 5000 * "1"}, "not a saved fit"),
        ({"format": "dpstats.fit/\u00b2"}, "not a saved fit"),
        ({"params": [1.0]}, "shape"),
        ({"names": ["a", "a", "b", "Log(scale)"]}, "differ"),
        ({"dist": "cauchy"}, "weibull"),
        ({"budget": {"kind": "none"}}, "budget"),
        ({"budget": {"kind": "zcdp", "rho": -1.0}}, "rho must be positive"),
        ({"nobs": -1}, "nobs must be a whole number of at least 0, got -1"),
        ({"nobs": 0.5}, "nobs must be a whole number"),
        ({"nobs": True}, "nobs must be a whole number"),
        ({"messages": {"accepted": -1}}, "accepted must be a whole number"),
    ],
)
def test_other_files_are_refused(change: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text(json.dumps({**capacitor().to_dict(), **change}))
    with pytest.raises(SpecificationError, match=message):
        load(path)


@pytest.mark.parametrize("text", ["", "[1, 2]", "not json", "\x80"])
def test_files_that_are_not_fits_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(SpecificationError, match="fit.save"):
        load(path)


def test_an_incomplete_file_is_refused() -> None:
    content = capacitor().to_dict()
    del content["cov"]
    with pytest.raises(SpecificationError, match="lacks 'cov'"):
        Fit.from_dict(content)


def test_columns_that_no_longer_fit_the_formula_are_refused() -> None:
    fit = capacitor(names=("Intercept", "temperature", "voltage", "Log(scale)"))
    with pytest.raises(SpecificationError, match="version"):
        fit.predict(USE)


def test_settings_cannot_carry_arrays() -> None:
    with pytest.raises(SpecificationError, match="'rows'"):
        capacitor(settings={"rows": np.zeros(5)})

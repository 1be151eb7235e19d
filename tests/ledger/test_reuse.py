"""A fit that a ledger paid for is kept beside it, and returned where the same is asked again."""

import inspect
import json
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import dpstats as dps
from dpstats import testing
from dpstats.errors import BudgetError, SpecificationError
from dpstats.formula.spelling import spelt
from dpstats.models import reuse
from dpstats.models.reuse import _Kept
from tests.privacy.catalogue import BUDGETS, SCHEMA, SHORT, Case, made

DATA = made(400)
BUDGET = dps.zcdp(4)


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dps.Ledger]:
    monkeypatch.chdir(tmp_path)
    used = dps.use_ledger("plant.ledger", total=dps.zcdp(100))
    assert used is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "nothing was spent")
        yield used
    dps.use_ledger(None)


def fit(
    formula: str = "cost ~ temp", data: Any = DATA, schema: dps.Schema = SCHEMA, **more: Any
) -> dps.results.LinearFit:
    model = dps.ols(formula, data, schema, weights=more.pop("weights", None), public=more.pop("public", None))
    return model.fit(more.pop("budget", BUDGET), force=True, **more)


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "plant.ledger.fits").glob("*"))


def test_the_report_tells_versions_of_the_data_apart(ledger: dps.Ledger) -> None:
    """Also those of a path, and beside who charged; a charge without a version reads as before."""
    fit()
    fit(reuse="2026-10")
    fit(reuse="2026-11", ledger="plant.ledger")
    fit(reuse="2026-12", ledger=dps.Ledger("plant.ledger", charged_by="claims"))
    none, *told = ledger.report().frame["method"]
    assert [re.findall("version '(.*?)' of the data", one) for one in told] == [
        ["2026-10"],
        ["2026-11"],
        ["2026-12"],
    ]
    assert told[2] == f"{none}, version '2026-12' of the data, charged by claims" and "version" not in none
    assert all(f"version '2026-{month}'" in " ".join(str(ledger.report()).split()) for month in (10, 11, 12))
    assert fit(reuse="2026-11").to_dict() and len(ledger.entries()) == 4 and not ledger.version


def test_the_same_fit_is_returned_and_nothing_is_spent(ledger: dps.Ledger, tmp_path: Path) -> None:
    first = fit()
    again = fit(reuse=True)
    assert again.to_dict() == first.to_dict() and type(again) is type(first)
    assert len(ledger.entries()) == 1 and len(kept(tmp_path)) == 1
    assert fit(reuse=True, ledger="plant.ledger").to_dict() == first.to_dict()
    assert fit("cost ~ load", reuse=True).names == ("Intercept", "load")
    assert len(ledger.entries()) == 2, "a fit that was not paid for yet is paid for"


def test_who_is_given_an_earlier_fit_is_told_that_nothing_was_spent(ledger: dps.Ledger) -> None:
    for asked, told in ((True, "before. If values have changed"), ("v2", "before, of the version 'v2'")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit(reuse=asked)
        with pytest.warns(UserWarning, match=f"this is what 'plant' was charged for {told}"):
            fit(reuse=asked)
    assert len(ledger.entries()) == 2


def test_who_leaves_out_the_version_is_told_which_was_kept_last(ledger: dps.Ledger, tmp_path: Path) -> None:
    for version in ("v1", "v2"):
        fit(reuse=version)  # a new version is meant to be paid for, and of that nobody is warned
    for place, file in enumerate(sorted(kept(tmp_path), key=lambda file: '"v2"' in file.read_text())):
        os.utime(file, (place, place))
    fit("cost ~ load")
    (tmp_path / "plant.ledger.fits" / "other.json").write_text("[]")
    (tmp_path / "plant.ledger.fits" / "another.json").write_text("{}")
    (tmp_path / "plant.ledger.fits" / "nowhere.json").symlink_to("none")
    with pytest.warns(UserWarning, match="the version 'v2' of the data. .*; reuse='v2' returns the one"):
        fit(reuse=True)
    with pytest.warns(UserWarning, match="the same arguments. .*; reuse=True returns the one"):
        fit()


def test_a_link_to_the_ledger_leads_to_the_same_fits(ledger: dps.Ledger, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / "link.ledger"
    link.symlink_to(tmp_path / "plant.ledger")
    first = fit()
    assert fit(reuse=True, ledger=link).to_dict() == first.to_dict()
    fit("cost ~ load", reuse=True, ledger=link)
    assert fit("cost ~ load", reuse=True).formula == "cost ~ load"
    assert len(ledger.entries()) == 2 and len(kept(tmp_path)) == 2
    (tmp_path / "plant.ledger.fits").rename(tmp_path / "other" / "link.ledger.fits")  # as it once was kept
    assert fit(reuse=True, ledger=link).to_dict() == first.to_dict() and len(ledger.entries()) == 2


def test_a_fit_reads_its_ledger_and_describes_itself_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fit()
    model = dps.ols("cost ~ load", DATA, SCHEMA)
    read, stated = Mock(wraps=dps.Ledger.entries), Mock(wraps=type(model)._stated)
    monkeypatch.setattr(dps.Ledger, "entries", lambda self: read(self))
    monkeypatch.setattr(type(model), "_stated", lambda self: stated(self))
    made = model.fit(BUDGET, force=True)
    assert (read.call_count, stated.call_count) == (1, 1)
    assert model.fit(BUDGET, force=True, reuse=True).to_dict() == made.to_dict()
    assert (read.call_count, stated.call_count) == (2, 2)


def test_an_alpha_that_differs_in_its_eighth_digit_is_another_fit(ledger: dps.Ledger) -> None:
    for alpha in (0.50000001, 0.50000049):
        model = dps.glm("months ~ temp", DATA, SCHEMA, f"negativebinomial(alpha={alpha})")
        model.fit(BUDGET, force=True, reuse=True)
    assert len(ledger.entries()) == 2


@pytest.mark.parametrize("case", SHORT)
def test_a_fit_is_told_by_plain_values_alone(case: Case) -> None:
    """What is written as an object shows itself may be the same of two, or differ from run to run."""
    model = case.model_of(DATA)
    asked = inspect.signature(type(model).fit).bind(model, BUDGETS[case.budget], **case.fitting(model))
    asked.apply_defaults()
    told = _Kept(model, asked.arguments, "").described["formula"]
    if isinstance(told, str):
        assert "".join(told.split()) == "".join(model.design.formula.split())
    else:
        assert told[2] == sorted(model.design.names)
    with pytest.raises(SpecificationError, match="is not told by an object"):
        assert _Kept(model, asked.arguments | {"method": object()}, "").described


def test_what_is_not_read_is_not_compared(ledger: dps.Ledger) -> None:
    """Neither blanks nor variables that the fit does not have; a text in quotes is compared as it is."""
    first, more = fit(), SCHEMA | dps.Schema(unread=dps.bounded(0, 1))
    for same in (dict(formula="cost~temp "), dict(schema=more), dict(formula="cost  ~temp", schema=more)):
        assert fit(reuse=True, **same).to_dict() == first.to_dict()
    sub = dps.ols("cost ~ temp", DATA, SCHEMA, subset="temp > 5").fit(BUDGET, force=True)
    assert (
        dps.ols("cost~temp", DATA, more, subset="temp>5").fit(BUDGET, reuse=True).to_dict() == sub.to_dict()
    )
    assert len(ledger.entries()) == 2
    apart = dps.Schema(dict(SCHEMA) | {"a  b": SCHEMA["temp"], "a b": SCHEMA["temp"]})
    data = {**{name: DATA[name] for name in DATA}, "a  b": DATA["temp"], "a b": DATA["temp"]}
    for formula in ("cost ~ Q('a  b')", "cost ~ Q('a b')"):
        fit(formula, data, apart, reuse=True)
    assert len(ledger.entries()) == 4
    apart = dps.Schema(dict(SCHEMA) | {"a' b": SCHEMA["temp"], "a'  b": SCHEMA["temp"]})
    data = {**{name: DATA[name] for name in DATA}, "a' b": DATA["temp"], "a'  b": DATA["temp"]}
    for formula in ("cost ~ Q('''a' b''')", "cost ~ Q('''a'  b''')"):
        fit(formula, data, apart, reuse=True)
    assert len(ledger.entries()) == 6


def test_what_a_formula_means_is_compared_and_not_how_it_is_written(ledger: dps.Ledger) -> None:
    """Terms in another order, brackets and products that are spelt out are the same columns."""
    first = fit("cost ~ temp * load + maker")
    for same in (
        "temp + load + temp:load + maker",
        "maker + (load + temp) + temp : load",
        "1+maker+temp*load",
    ):
        assert fit(f"cost ~ {same}", reuse=True).to_dict() == first.to_dict()
    assert len(ledger.entries()) == 1
    for other in ("load*temp + maker", "temp:load + maker", "temp * load + maker - 1", "temp + load + maker"):
        assert fit(f"cost ~ {other}", reuse=True).formula == f"cost ~ {other}"  # load:temp is another name
    assert len(ledger.entries()) == 5


def test_the_order_of_terms_is_compared_where_columns_or_what_is_estimated_follow_from_it(
    ledger: dps.Ledger,
) -> None:
    """Without an intercept the first category has all its levels; strata have their scales in order."""
    schema = SCHEMA | dps.Schema(site=dps.levels("A", "B", other=True))
    data = {**{name: DATA[name] for name in DATA}, "site": list(DATA["maker"])[::-1]}
    fit("cost ~ 0 + maker + site", data, schema)
    assert fit("cost ~ 0 + site + maker", data, schema, reuse=True).names[0].startswith("site")
    for terms in ("strata(maker) + strata(site)", "strata(site) + strata(maker)"):
        model = dps.survreg(f"Surv(time, failed) ~ temp + {terms}", data, schema)
        model.fit(BUDGET, force=True, reuse=True)
    assert len(ledger.entries()) == 4


def test_one_release_may_be_named_alone(ledger: dps.Ledger) -> None:
    model = dps.survreg("Surv(time, failed) ~ temp", DATA, SCHEMA)
    first = model.fit(BUDGET, force=True, release="dist")
    assert model.fit(BUDGET, release=["dist"], reuse=True).to_dict() == first.to_dict()
    both = model.fit(BUDGET, force=True, release=("dist", "loglik"))
    assert model.fit(BUDGET, release=["loglik", "dist"], reuse=True).to_dict() == both.to_dict()
    assert len(ledger.entries()) == 2


def test_a_fit_that_an_earlier_version_kept_is_found(
    ledger: dps.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It told formula and schema as they were written."""
    both = _Kept._written_and_read.func
    with monkeypatch.context() as earlier:
        earlier.setattr(_Kept, "_written_and_read", property(lambda self: [both(self)[0]] * 2))
        first = fit("cost  ~ temp")
    assert fit("cost  ~ temp", reuse=True).to_dict() == first.to_dict() and len(ledger.entries()) == 1
    assert len(kept(tmp_path)) == 1 and '"cost  ~ temp"' in kept(tmp_path)[0].read_text()
    with pytest.warns(UserWarning, match="was charged for the same before"):
        fit("cost  ~ temp")


def test_a_fit_of_a_subset_that_was_compared_within_bounds_is_not_the_same(
    ledger: dps.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows were others: codes beyond the bounds had become the bounds."""
    both = _Kept._written_and_read.func

    def of_before(self: _Kept) -> list[dict[str, Any]]:
        return [
            {name: what for name, what in about.items() if name != "subset compares"} for about in both(self)
        ]

    def given() -> dps.results.LinearFit:
        return dps.ols("cost ~ temp", DATA, SCHEMA, subset="temp > 5").fit(BUDGET, force=True, reuse=True)

    with monkeypatch.context() as earlier:
        earlier.setattr(_Kept, "_written_and_read", property(of_before))
        first = given()
    second = given()
    assert second.to_dict() != first.to_dict() and second.to_dict() == given().to_dict()
    assert len(ledger.entries()) == 2


SPELLINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "quoted": (dict(formula="cost ~ temp"), dict(formula="Q('cost') ~ temp")),
    "function": (dict(formula="log(cost + 1) ~ temp"), dict(formula="np.log(Q('cost') + 1) ~ temp")),
    "offset": (
        dict(formula="cost ~ temp + offset(log(load + 1))"),
        dict(formula="cost ~ temp + offset(np.log((load)+1))"),
    ),
    "weights": (dict(weights="load"), dict(weights="(Q('load'))")),
    "subset": (dict(subset="temp > 5"), dict(subset="(Q('temp')) > 5")),
    "flag": (dict(subset="good"), dict(subset="(Q('good') == 1)")),
    "no flag": (dict(subset="not good and temp > 5"), dict(subset="good != 1 and temp > 5")),
    "turned": (dict(subset="temp >= -5"), dict(subset="-5 <= temp")),
    "turned level": (dict(subset="maker != 'A'"), dict(subset="'A' != maker")),
    "joined": (
        dict(subset="temp > 5 and load < 9 and good"),
        dict(subset="(1 == good) & (9 > load) & (temp > 5)"),
    ),
    "nested": (dict(subset="temp > 5 or good and load < 9"), dict(subset="(load < 9) & good | (temp > 5)")),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_expressions_are_told_by_what_they_say(spelling: str, ledger: dps.Ledger) -> None:
    first, again = SPELLINGS[spelling]
    made = [
        dps.ols(**({"formula": "cost ~ temp", "data": DATA, "schema": SCHEMA} | words)).fit(
            BUDGET, force=True, reuse=True
        )
        for words in (first, again)
    ]
    assert made[0].to_dict() == made[1].to_dict() and len(ledger.entries()) == 1


SURV: dict[str, tuple[str, ...]] = {
    "right": (
        "Surv(time, failed)",
        "Surv (time,failed)",
        "Surv(time, event=failed)",
        "Surv(event = failed, time = time)",
        "Surv(time, failed, type='right')",
    ),
    "late": (
        "Surv(entry, time, failed)",
        "Surv(time, failed, entry=entry)",
        "Surv(entry=entry, time=time, event=failed)",
        "Surv(entry, time, failed, type='counting')",
    ),
    "all": ("Surv(time)", "Surv(time=time)", "Surv(time, type = 'right')"),
    "late, all": ("Surv(time, entry=entry)", "Surv(entry=entry, time=time, type='counting')"),
    "not": ("Surv(time, censored=good)", "Surv(time=time, censored=good, type='right')"),
    "late, not": ("Surv(entry, time, censored=good)", "Surv(time, entry=entry, censored=good)"),
    "left": ("Surv(time, failed, type='left')", "Surv(time, type='left', event=failed)"),
    "between": ("Surv(entry, time, type='interval2')", "Surv(upper=time, lower=entry, type='interval2')"),
}


@pytest.mark.parametrize("kind", ["right", "late"])
def test_a_response_that_is_spelt_in_another_way_is_the_same(kind: str, ledger: dps.Ledger) -> None:
    late = DATA | {"entry": np.zeros(400)}
    schema = SCHEMA | dps.Schema(entry=dps.bounded(0, 1))
    for response in SURV[kind]:
        dps.survreg(f"{response} ~ temp", late, schema).fit(BUDGET, force=True, reuse=True)
    assert len(ledger.entries()) == 1


def test_every_response_has_one_spelling_and_none_has_that_of_another() -> None:
    schema = SCHEMA | dps.Schema(entry=dps.bounded(0, 1))
    found = [{spelt(one, schema) for one in same} for same in SURV.values()]
    assert all(len(each) == 1 for each in found) and len(set.union(*found)) == len(SURV)


def test_a_release_that_is_named_twice_is_the_same(ledger: dps.Ledger) -> None:
    for release in (["dist"], ["dist", "dist"]):
        dps.survreg("Surv(time, failed) ~ temp", DATA, SCHEMA).fit(
            BUDGET, force=True, reuse=True, release=release
        )
    assert len(ledger.entries()) == 1


def test_a_name_that_reads_as_an_expression_is_another_column() -> None:
    assert spelt("Q('a + b')", SCHEMA) == spelt('(Q("a + b"))', SCHEMA) != spelt("a + b", SCHEMA)
    assert spelt("Q('pi')", SCHEMA) != spelt("np.pi", SCHEMA)
    assert spelt("Q('not') - x > 0", SCHEMA) != spelt("not -x > 0", SCHEMA)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 < temp", "temp < 5"),
        ("5 <= temp", "temp > 5"),
        ("temp > load", "load > temp"),
        ("5 < temp < 9", "9 < temp < 5"),
        ("5 < temp and good or load > 1", "5 < temp and (good or load > 1)"),
        ("not (good and temp > 5)", "not good and temp > 5"),
        ("good & temp > 5", "good and temp > 5"),
    ],
)
def test_other_conditions_have_other_spellings(one: str, other: str) -> None:
    assert spelt(one, SCHEMA) != spelt(other, SCHEMA)


@pytest.mark.parametrize(("asked", "other"), [("a|b|a, b", "a, b|a|b"), ("c|c |b", "c |c|b")])
def test_commas_and_blanks_in_names_do_not_hide_which_variables_are_described(asked: str, other: str) -> None:
    names = {*asked.split("|")}
    data = {name: DATA["temp"] for name in names}
    schema = dps.Schema({name: SCHEMA["temp"] for name in names})
    for columns in (asked.split("|"), other.split("|")) * 2:
        found = dps.describe(data, schema, BUDGET, columns, force=True, reuse=True)
        assert found.frame["variable"].unique().tolist() == columns


def test_a_description_of_plain_names_is_told_as_it_was() -> None:
    """So that one which was kept is found again."""
    dps.describe(DATA, SCHEMA, BUDGET, ["temp", "load"], force=True)
    (path,) = kept(Path())
    told = json.loads(path.read_text())["asked"]
    assert told["formula"] == "describe : load , temp" and "columns" not in told
    again = dps.describe(DATA, SCHEMA, BUDGET, ["load", "temp"], force=True, reuse=True)
    assert again.frame["variable"].unique().tolist() == ["temp", "load"], "as it was paid for"


CHANGES: dict[str, dict[str, Any]] = {
    "formula": dict(formula="cost ~ load"),
    "budget": dict(budget=dps.zcdp(4.5)),
    "kind of budget": dict(budget=dps.approx(2, 1e-3)),
    "bounds": dict(schema=dps.Schema(dict(SCHEMA) | {"cost": dps.bounded(1, 400)})),
    "rows": dict(data=made(401)),
    "weights": dict(weights="months"),
    "public": dict(public=made(300, seed=5)),
    "version": dict(reuse="2026-11"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_fit_is_not_taken_for_the_same(change: str, ledger: dps.Ledger) -> None:
    """Nor is it warned of as such, which would be an error here."""
    fit()
    fit(**CHANGES[change])
    if change != "version":
        fit(**CHANGES[change], reuse=True)
    assert len(ledger.entries()) == 2


def test_values_of_the_data_do_not_tell_fits_apart_but_their_declared_version_does(
    ledger: dps.Ledger,
) -> None:
    other = made(400, seed=9)
    first = fit()
    assert fit(data=other, reuse=True).to_dict() == first.to_dict()
    second = fit(data=other, reuse="v2")
    assert second.to_dict() != first.to_dict() and len(ledger.entries()) == 2
    assert fit(data=other, reuse="v2").to_dict() == second.to_dict()
    assert fit(reuse=True).to_dict() == first.to_dict() and len(ledger.entries()) == 2


MODELS: dict[str, Callable[..., Any]] = {
    "ols": lambda **more: dps.ols("cost ~ temp", DATA, SCHEMA).fit(BUDGET, force=True, **more),
    "ridge": lambda **more: dps.ridge("cost ~ temp", DATA, SCHEMA, 2.0).fit(BUDGET, force=True, **more),
    "logit": lambda **more: dps.logit("good ~ temp", DATA, SCHEMA).fit(BUDGET, force=True, **more),
    "glm": lambda **more: dps.glm("visits ~ temp", DATA, SCHEMA, "poisson").fit(
        BUDGET, release=["loglik"], force=True, **more
    ),
    "survreg": lambda **more: dps.survreg("Surv(time, failed) ~ temp", DATA, SCHEMA).fit(
        BUDGET, force=True, **more
    ),
    "svm": lambda **more: dps.svm("good ~ temp", DATA, SCHEMA).fit(BUDGET, **more),
    "kaplan_meier": lambda **more: dps.kaplan_meier("Surv(time, failed) ~ 1", DATA, SCHEMA).fit(
        BUDGET, **more
    ),
    "describe": lambda **more: dps.describe(DATA, SCHEMA, BUDGET, ["temp"], **more),
}


@pytest.mark.parametrize("model", MODELS)
def test_every_model_returns_what_it_kept(model: str, ledger: dps.Ledger) -> None:
    first, again = MODELS[model](), MODELS[model](reuse=True)
    assert again.to_dict() == first.to_dict() and type(again) is type(first)
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize("model", MODELS)
def test_every_model_warns_where_the_same_is_charged_again(model: str, ledger: dps.Ledger) -> None:
    MODELS[model]()
    with pytest.warns(UserWarning, match="was charged for the same before, of 400 rows"):
        MODELS[model]()
    assert len(ledger.entries()) == 2


def test_other_descriptions_are_told_apart(ledger: dps.Ledger) -> None:
    """None is warned of as one that was paid for."""
    for columns, subset in ((["temp"], None), (["load"], None), (["temp"], "cost > 50")):
        dps.describe(DATA, SCHEMA, BUDGET, columns, subset=subset)
    assert len(ledger.entries()) == 3


def test_models_with_the_same_formula_are_told_apart(ledger: dps.Ledger) -> None:
    """None is warned of as one that was paid for."""
    for dist in ("weibull", "lognormal"):
        dps.survreg("Surv(time, failed) ~ temp", DATA, SCHEMA, dist).fit(BUDGET, force=True)
    for alpha in (0.1, 2.0):
        dps.ridge("cost ~ temp", DATA, SCHEMA, alpha).fit(BUDGET, force=True)
    for h in (0.5, 0.5000000001):
        dps.svm("good ~ temp", DATA, SCHEMA, h=h).fit(BUDGET)
    assert len(ledger.entries()) == 6


def test_a_ledger_that_was_begun_anew_has_paid_for_nothing(ledger: dps.Ledger, tmp_path: Path) -> None:
    fit()
    time.sleep(1.1)  # ledgers tell seconds apart
    (tmp_path / "plant.ledger").unlink()
    dps.use_ledger(None)
    anew = dps.use_ledger("plant.ledger", total=dps.zcdp(100))
    assert anew is not None
    fit(reuse=True)
    assert len(anew.entries()) == 1


def test_what_is_kept_holds_nothing_but_the_fit_and_what_was_asked(tmp_path: Path) -> None:
    found = fit()
    (path,) = kept(tmp_path)
    content = json.loads(path.read_text("utf-8"))
    assert set(content) == {"format", "asked", "fit"} and content["fit"] == found.to_dict()
    read = {name: SCHEMA.to_dict()[name] for name in ("cost", "temp")}
    assert content["asked"]["rows"] == 400 and content["asked"]["schema"] == read
    cells = {f"{value!r}" for value in np.concatenate([DATA["temp"], DATA["cost"]])}
    assert not any(cell in path.read_text("utf-8") for cell in cells)


def test_fits_with_known_noise_are_neither_kept_nor_returned(tmp_path: Path, ledger: dps.Ledger) -> None:
    with testing.noise(testing.SeededNoise(1)):
        fit()
    assert not kept(tmp_path)
    first = fit()
    with testing.noise(testing.SeededNoise(1)):
        again = fit(reuse=True)
    assert not first.not_private and again.not_private


def test_a_fit_that_cannot_be_kept_is_returned_all_the_same(
    tmp_path: Path, ledger: dps.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plant.ledger.fits").write_text("in the way")
    assert fit().names == ("Intercept", "temp") and len(ledger.entries()) == 1
    (tmp_path / "plant.ledger.fits").unlink()
    for wrong in (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "a surrogate"), ValueError("nan"), TypeError()):
        monkeypatch.setattr(reuse, "write_text", Mock(side_effect=wrong))
        assert fit().names == ("Intercept", "temp") and reuse.write_text.called
    assert len(ledger.entries()) == 4


def test_a_file_that_was_spoilt_is_named_before_anything_is_spent(tmp_path: Path, ledger: dps.Ledger) -> None:
    fit()
    (path,) = kept(tmp_path)
    content = json.loads(path.read_text("utf-8"))
    for spoilt in ("{", "{}", json.dumps(content | {"asked": {}}), json.dumps(content | {"fit": {}})):
        path.write_text(spoilt)
        with pytest.raises(SpecificationError):
            fit(reuse=True)
    assert len(ledger.entries()) == 1


def test_what_is_wrong_is_said_before_anything_is_spent(ledger: dps.Ledger) -> None:
    for wrong in (1, "", "two\nlines", None, b"v", "yes", "No", " true ", "off"):
        with pytest.raises(SpecificationError, match="reuse must be True or False, without"):
            fit(reuse=wrong)
    with pytest.raises(BudgetError, match="budget must be a budget"):
        fit(budget=1.0, reuse=True)
    with pytest.raises(SpecificationError, match="method must be"):
        fit(method="magic", reuse=True)
    dps.use_ledger(None)
    with pytest.raises(SpecificationError, match="there is none; give ledger="):
        fit(reuse=True)
    assert not ledger.entries()

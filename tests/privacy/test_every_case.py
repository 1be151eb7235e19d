"""The catalogue of fits is complete: what the package offers is in it, and what is not in it is refused."""

from collections import Counter

import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.curator.statistics import REGISTRY
from dpstats.testing import Recording, SeededNoise, noise
from tests.privacy import catalogue
from tests.privacy.catalogue import (
    BUDGETS,
    CASES,
    OPTIONS,
    SIDES,
    combinations,
    made,
    maker,
    refused,
    repeats,
)


class Reached(BaseException):
    """A first draw of noise."""


class Stop:
    """Noise that is asked for ends the fit."""

    def gaussian(self, *_: object) -> None:
        raise Reached

    pure = gaussian


def test_every_model_is_in_the_catalogue() -> None:
    """A new function of ``dpstats.models``, or a kind of budget, must be given a place."""
    assert {case.model for case in CASES} == set(catalogue.model_names()) <= set(dps.__all__)
    assert {type(budget) for budget in BUDGETS.values()} == set(Budget.__args__)


def test_every_argument_is_in_the_catalogue() -> None:
    """An argument of a model or of its fit is one of every case, or an option changes it."""
    changed = {name for changes in OPTIONS.values() for name in changes} - set(SIDES)
    everywhere = {"formula", "data", "schema", "dist", "family", "budget", "method", "compat", "ledger"}
    for model in catalogue.model_names():
        described = catalogue.described(model, catalogue.laws(model)[0])
        arguments = {*catalogue.parameters(maker(model)), *catalogue.parameters(described.fit)}
        assert arguments <= everywhere | changed | set(catalogue.REQUIRED.get(model, ())), model


def test_every_method_is_the_one_of_the_documents() -> None:
    for model in catalogue.model_names():
        fit = catalogue.described(model, catalogue.laws(model)[0]).fit
        for method in filter(None, catalogue.methods(model, catalogue.laws(model)[0])):
            assert f'"{method}"' in fit.__doc__, f"{model} does not document method={method!r}"


def test_all_combinations_are_covered_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever can be asked for draws noise if it is in the catalogue, and is refused before if not."""
    data, wrong = made(), []
    for case in combinations():
        try:
            with noise(Stop()):
                case.fit(data)
            wrong.append(f"{case} drew no noise")
        except Reached:
            if refused(case):
                wrong.append(f"{case} is in no test")
        except dps.SpecificationError as error:
            if not refused(case):
                wrong.append(f"{case}: {error}")
    print("\n".join(table()))
    assert not wrong, "\n".join(wrong)


def test_every_statistic_is_asked_for() -> None:
    """By one case or another that is run each time."""
    data, asked = made(), set()
    for case in CASES:
        if not repeats(case):
            with noise(recording := Recording(SeededNoise(0))):
                case.fit(data)
            asked |= {record.name for record in recording.records}
    assert asked - {"minimum"} == set(REGISTRY)


def table() -> list[str]:
    """Cases of each model, method and kind of budget, and in how many ways each is asked for."""
    count = Counter((f"{at.model} {at.law or ''}", at.method, at.compat, at.budget) for at in CASES)
    rows = sorted({key[:3] for key in count}, key=str)
    head = f"{'':22}{'method':12}{'compat':8}" + "".join(f"{budget:>8}" for budget in BUDGETS)
    lines = [
        f"{name:22}{method or '':12}{compat or '':8}"
        + "".join(f"{count[name, method, compat, budget] or '-':>8}" for budget in BUDGETS)
        for name, method, compat in rows
    ]
    return [head, *lines]

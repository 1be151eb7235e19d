"""What holds private rows is not pickled or copied; fits are, and no row is in them."""

import copy
import importlib
import inspect
import io
import pickle
import pkgutil
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import dpstats as dps
from dpstats import models
from dpstats._private import HoldsRows
from dpstats.curator import Curator
from dpstats.curator.blocks import Blocks
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.rows.rows import Rows
from dpstats.rows.sources import Source
from dpstats.testing import SeededNoise, noise
from tests.privacy.catalogue import CASES, SCHEMA, made

DATA = made()
FIRST = {case.model: case for case in reversed(CASES)}  # one of each
HOW = {
    **{f"protocol {number}": lambda model, number=number: pickle.dumps(model, number) for number in range(6)},
    "in a list": lambda model: pickle.dumps([model]),
    "without the C module": lambda model: pickle._Pickler(io.BytesIO()).dump(model),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def held():
    """Everything else that holds rows, by name."""
    design = build_design("cost ~ temp", SCHEMA)
    rows = open_rows(DATA, SCHEMA, design.variables)
    source, curator = rows._source, Curator(rows, design, dps.gdp(1))
    return {"Rows": rows, "Source": source, "Curator": curator, "Blocks": curator._blocks}


HOLDERS = {**{name: case.model_of(DATA) for name, case in FIRST.items()}, **held()}


def modules():
    names = [found.name for found in pkgutil.iter_modules(models.__path__)]
    return [importlib.import_module(f"dpstats.models.{name}") for name in names]


def test_every_model_is_there():
    """A class of a model is one that can be fitted; a name that begins with _ is in no user's hands."""
    found = {
        kind
        for module in modules()
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if hasattr(kind, "fit") and kind.__module__.startswith("dpstats.models") and kind.__name__[0] != "_"
    }
    assert found and found <= {type(holder) for holder in HOLDERS.values()}
    assert all(issubclass(kind, HoldsRows) for kind in found | {Rows, Source, Curator, Blocks})


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", HOLDERS)
def test_what_holds_rows_is_not_pickled(name, how):
    with pytest.raises(TypeError, match="holds private rows.*pickle or save the fit"):
        HOW[how](HOLDERS[name])


def test_nor_is_it_sent_to_another_process():
    with ProcessPoolExecutor(1) as pool, pytest.raises(TypeError, match="holds private rows"):
        pool.submit(type, HOLDERS["ols"]).result(60)


@pytest.mark.parametrize("name", sorted(FIRST.keys() - {"kaplan_meier", "svm"}))  # these need data
def test_a_model_without_data_is_pickled(name):
    model = FIRST[name].model_of(None)
    loaded = pickle.loads(pickle.dumps(model))
    assert repr(loaded) == repr(copy.deepcopy(model)) == repr(model)
    with pytest.raises(dps.SpecificationError, match="the data have no rows"):
        loaded.fit(dps.zcdp(1))


def test_a_plan_is_pickled():
    schema = dps.Schema(x=dps.bounded(0, 1), sick=dps.flag())
    ahead = dps.plan(dps.logit("sick ~ x", None, schema), dps.zcdp(0.5), 900, events=0.3)
    loaded = pickle.loads(pickle.dumps(ahead))
    assert loaded.table().equals(ahead.table())
    assert loaded.power({"x": 2.0}).equals(ahead.power({"x": 2.0}))


@pytest.mark.parametrize("name", FIRST)
def test_a_fit_is_pickled_and_holds_no_row(name):
    with noise(SeededNoise(1)):
        fit = FIRST[name].fit(DATA)
    pickled = pickle.dumps(fit)
    assert pickle.loads(pickled).to_dict() == fit.to_dict() == copy.deepcopy(fit).to_dict()
    for column in ("cost", "temp", "load", "time", "months"):
        values = DATA[column][~np.isin(DATA[column], (1.0, 60.0, 500.0))]
        assert not any(value.tobytes() in pickled or value.tobytes()[::-1] in pickled for value in values)

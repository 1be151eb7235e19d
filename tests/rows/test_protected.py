"""What goes wrong in other code while a table is opened or read says nothing of it, and stays stopped."""

import traceback
from collections.abc import Sequence
from traceback import walk_tb

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpstats as dps
from dpstats._private import forgetting, protected
from dpstats.errors import DataError
from dpstats.rows import open_rows, shared
from dpstats.rows.encode import Encoder
from tests.privacy.catalogue import LEFT, REQUIRED, made, maker, model_names
from tests.privacy.catalogue import SCHEMA as DECLARED

SECRET = "serial-4711"
SCHEMA = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(0, 1))
RAISED = [ValueError(SECRET), DataError(SECRET), KeyboardInterrupt(SECRET), SystemExit(SECRET)]
FRAME = pd.DataFrame({"x": np.linspace(0, 1, 7), "y": np.linspace(1, 0, 7)})


class Lazy:
    """A column or a table that is computed when it is asked for."""

    def __init__(self, error):
        self._error = error

    def __arrow_c_stream__(self, requested_schema=None):
        raise self._error


class Cells(Lazy):
    def __iter__(self):
        raise self._error

    __arrow_c_stream__ = property()


class Attribute(Lazy):
    @property
    def __arrow_c_stream__(self):
        raise self._error


class Columns(dict):
    def __getitem__(self, name):
        raise self["error"] if name == "error" else dict.__getitem__(self, "error")

    def values(self):
        raise dict.__getitem__(self, "error")


def batches(error):
    yield pa.RecordBatch.from_pandas(FRAME)
    raise error


def reader(error):
    return pa.RecordBatchReader.from_batches(pa.Schema.from_pandas(FRAME), batches(error))


class Listed(Sequence):
    def __init__(self, error):
        self._error = error

    def __len__(self):
        return 2

    def __getitem__(self, place):
        if place:
            raise self._error
        return 0.5


TABLES = {
    "a lazy table": Lazy,
    "a table without the attribute": Attribute,
    "tables": lambda e: [FRAME, Lazy(e)],
    "a generator of tables": lambda e: (table for table in [FRAME, Lazy(e)]),
    "a generator": batches,
    "an iterable": Cells,
    "a reader": reader,
    "a mapping": lambda e: Columns(x=1, y=1, error=e),
    "a lazy column": lambda e: {"x": Lazy(e), "y": [1]},
    "a column": lambda e: {"x": Listed(e), "y": [1, 2]},
}


def caught_of(error, act, stops=True):
    """What `act` raises, which has no cause and no words of another error."""
    with pytest.raises(type(error) if stops and not isinstance(error, Exception) else DataError) as caught:
        act()
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return caught.value


def inside(error):
    """The names and values of the locals of all frames inside the package."""
    return [
        item
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if "/dpstats/" in frame.f_code.co_filename
        for item in frame.f_locals.items()
    ]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("name", sorted(TABLES))
def test_code_that_comes_with_a_table_fails_without_a_word(name, error):
    stops = name != "a reader"  # an interrupt in code that Arrow calls is an error to Arrow
    raised = caught_of(error, lambda: open_rows(TABLES[name](error), SCHEMA, ["x", "y"]).n, stops)
    assert not isinstance(raised, DataError) or "cannot be" in str(raised) or "does not give" in str(raised)


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("name", ["a lazy column", "a column", "a mapping"])
def test_so_does_the_comparison_with_public_data(name, error):
    caught_of(error, lambda: shared(FRAME, Columns(x=1, y=1, error=error)))


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_no_frame_with_rows_hangs_on_an_error_of_reading(kind, monkeypatch):
    usual = Encoder.__call__

    def faulty(self, batch):
        block = usual(self, batch)
        raise kind(f"{block} {SECRET}")

    monkeypatch.setattr(Encoder, "__call__", faulty)
    error = kind()
    rows = open_rows(FRAME, SCHEMA, ["x"])
    for act in (lambda: rows.n, lambda: list(rows.blocks())):
        values = dict(inside(caught_of(error, act)))
        assert set(values) <= {"self", "failure", "passed", "shown", "interrupts", "size"}
    monkeypatch.undo()
    assert rows.n == len(FRAME), "a frame can be read again"


def test_an_interrupt_keeps_its_type_without_its_words_whatever_its_constructor_wants():
    class Stop(BaseException):
        def __init__(self, words, more):
            super().__init__(words)

    def stop():
        raise Stop(SECRET, 1)

    with pytest.raises(Stop) as caught:
        protected(stop, ValueError())
    assert caught.value.args == () and caught.value.__context__ is None


class Made(BaseException):
    def __new__(cls, words):
        return super().__new__(cls, words)


class Group(BaseExceptionGroup):
    """Stays a group of this kind, and no Exception, whatever it holds."""


ERRORS = [ValueError(SECRET), OSError(SECRET)]
GROUPS = {  # of which the first that stops a program says how
    "interrupts": (BaseExceptionGroup(SECRET, [KeyboardInterrupt(SECRET), SystemExit()]), KeyboardInterrupt),
    "an exit": (BaseExceptionGroup(SECRET, [*ERRORS, SystemExit(SECRET)]), SystemExit),
    "an exit in a group": (Group(SECRET, [Group(SECRET, [*ERRORS, SystemExit(SECRET)])]), SystemExit),
    "errors": (ExceptionGroup(SECRET, ERRORS), DataError),
    "errors in a group": (Group(SECRET, [Group(SECRET, ERRORS)]), DataError),
}


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_is_what_it_holds(name):
    """A group of errors is an error; one in which anything stops the program stops it, without a word."""
    error, kind = GROUPS[name]
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - an interrupt that is wrong would stop the tests
        dps.ols("y ~ x", batches(error), SCHEMA).fit(dps.zcdp(1))
    assert type(caught.value) is kind and caught.value.__context__ is None
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert isinstance(caught.value, Exception) or caught.value.args == ()


def test_an_interrupt_that_needs_its_words_stops_the_program_without_one():
    with pytest.raises(KeyboardInterrupt) as caught:
        dps.ols("y ~ x", batches(Made(SECRET)), SCHEMA).fit(dps.zcdp(1))
    assert caught.value.args == () and caught.value.__context__ is None


MISTAKES = {
    "a column is missing": lambda data: {"data": {name: data[name] for name in data if name != "temp"}},
    "an unknown variable": lambda data: {"formula": "good ~ nothing"},
    "no schema": lambda data: {"schema": None},
    "data for a formula": lambda data: {"formula": data["temp"]},
    "an argument that raises": lambda data: {"data": Columns(error=KeyError(SECRET), **data)},
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("model", model_names())
def test_no_frame_keeps_the_data_of_a_model_that_is_refused(model, mistake):
    data, required = made(7), {"family": "poisson"} if model == "glm" else REQUIRED.get(model, {})
    given = {"formula": f"{LEFT.get(model, 'visits')} ~ temp", "data": data, "schema": DECLARED, **required}
    with pytest.raises(dps.SpecificationError) as caught:
        maker(model)(**given | MISTAKES[mistake](data))
    del given
    assert {name for name, _ in inside(caught.value)} <= {"make"}


def test_no_error_that_led_to_another_keeps_what_its_frames_held():
    """Neither the cause of an error, nor what was handled meanwhile, nor one of a group."""

    def failed(kind):
        def fail():
            kept = SECRET
            raise kind(len(kept))

        try:
            fail()
        except kind as error:
            return error

    @forgetting
    def make():
        group = ExceptionGroup("two", [failed(KeyError), failed(IndexError)])
        try:
            raise failed(OSError)
        except OSError:
            raise group from failed(LookupError)

    with pytest.raises(ExceptionGroup) as caught:
        make()
    group = caught.value
    for error in (group.__cause__, group.__context__, *group.exceptions):
        *_, (frame, _) = walk_tb(error.__traceback__)
        assert frame.f_code.co_name == "fail" and "kept" not in frame.f_locals


def test_what_the_caller_handles_is_the_callers():
    """The frames of an error in whose handler the package is called keep what they hold."""

    def theirs():
        kept = SECRET
        raise KeyError(kept)

    try:
        theirs()
    except KeyError as outer:
        with pytest.raises(dps.SpecificationError) as caught:
            dps.ols("y ~ z", FRAME, SCHEMA)
        frames = [frame for frame, _ in traceback.walk_tb(outer.__traceback__)]
        assert frames[-1].f_locals == {"kept": SECRET}
        assert caught.value.__context__ in (None, outer)


class Hiccup:
    """Batches of a server that fails once, then goes on."""

    def __init__(self, error):
        self._turns = iter([FRAME, error, FRAME])

    def __iter__(self):
        return self

    def __next__(self):
        turn = next(self._turns)
        if isinstance(turn, BaseException):
            raise turn
        return turn


class ToReader(Hiccup):
    def __next__(self):
        return pa.RecordBatch.from_pandas(super().__next__())


ONCE = {
    "reader": lambda e: pa.RecordBatchReader.from_batches(pa.Schema.from_pandas(FRAME), ToReader(e)),
    "iterator": Hiccup,
    "reader in a list": lambda e: [FRAME, ONCE["reader"](e)],
}


@pytest.mark.parametrize("error", [ConnectionError(SECRET), KeyboardInterrupt(SECRET)], ids=["error", "stop"])
@pytest.mark.parametrize("name", sorted(ONCE))
def test_what_is_left_of_a_table_that_can_be_read_once_is_not_taken_for_the_table(name, error):
    model = dps.ols("y ~ x", ONCE[name](error), SCHEMA)
    caught_of(error, lambda: model.fit(dps.zcdp(1)), "reader" not in name)
    for _ in range(2):
        with pytest.raises(DataError, match=r"only once.* Make the model again"):
            model.fit(dps.zcdp(1))


def test_the_frame_that_protects_rows_lets_go_of_them():
    """It hangs on the traceback of what it raises."""

    def compute():
        raise ValueError("among rows")

    with pytest.raises(DataError) as caught:
        protected(compute, DataError("nothing is shown"))
    held = [value for frame, _ in walk_tb(caught.tb) for value in frame.f_locals.values()]
    assert held.count(compute) == 1  # this test's own

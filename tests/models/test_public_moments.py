"""Public moments: the numbers of plain numpy on rows read as private ones, a file, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.formula import build_design
from dpstats.models.public import as_public
from dpstats.moments import PublicMoments

SCHEMA = dps.Schema(
    y=dps.bounded(-4, 4),
    x=dps.bounded(0, 1),
    t=dps.bounded(0, 2),
    w=dps.bounded(0, 5),
    g=dps.levels("a", "b", "c"),
    died=dps.event(),
)
FORMULA = "y ~ x + g"


def rows(n: int = 60) -> pd.DataFrame:
    generator = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "y": generator.normal(size=n),
            "x": generator.uniform(size=n),
            "t": generator.uniform(0, 2, n),
            "w": generator.uniform(0, 5, n),
            "g": generator.choice(["a", "b", "c"], n),
            "died": 1,
        }
    )


def of(formula=FORMULA, frame=None, schema=SCHEMA, **more):
    return dps.public_moments(formula, rows() if frame is None else frame, schema, **more)


def test_the_moments_are_those_of_plain_numpy():
    frame = rows()
    found = of("y ~ x + g + offset(t)", frame, weights="w")
    x = np.column_stack([np.ones(60), frame.g == "b", frame.g == "c", frame.x])
    y, w = frame.y - frame.t, frame.w / frame.w.sum()
    assert found.names == ("Intercept", "g[T.b]", "g[T.c]", "x") and found.n == 60
    assert found.xx == pytest.approx((x.T * w.to_numpy()) @ x, rel=1e-12)
    assert found.xy == pytest.approx((x.T * w.to_numpy()) @ y, rel=1e-12)
    assert found.yy == pytest.approx(float(w @ y**2), rel=1e-12)


def test_rows_are_clipped_and_switched_off_as_private_ones():
    wild = rows()
    wild.loc[0, "x"], wild.loc[1, "y"] = 7.0, -1e9
    wild.loc[2, "y"], wild.loc[3, "g"], wild.loc[4, "x"] = np.nan, "nowhere", np.inf
    tame = wild.drop(index=[2, 3, 4]).assign(x=wild.x.clip(0, 1), y=wild.y.clip(-4, 4))
    found, wanted = of(frame=wild), of(frame=tame)
    assert found.n == wanted.n == 57
    assert np.array_equal(found.xx, wanted.xx) and found.yy == wanted.yy


def test_a_unit_of_privacy_does_not_matter_to_public_rows():
    """Its column need not be there, and all rows of one person weigh."""
    protected = SCHEMA.unit("person", 1)
    assert np.array_equal(of(schema=protected).xx, of().xx)
    assert as_public(rows().assign(person=1), build_design(FORMULA, protected)).n == 60


def test_a_file_gives_the_moments_to_the_last_bit(tmp_path):
    moments, path = of(), tmp_path / "moments.json"
    moments.save(path)
    again = PublicMoments.load(path)
    assert again.to_dict() == moments.to_dict()
    assert json.loads(path.read_text())["format"] == "dpstats.moments/1"
    assert repr(again) == repr(moments)
    with pytest.raises(SpecificationError, match="exists"):
        of("y~x").save(path)
    of("y~x").save(path, overwrite=True)
    assert PublicMoments.load(path).formula == "y~x"


def test_as_public_takes_moments_or_rows():
    design, moments = build_design(FORMULA, SCHEMA), of()
    assert as_public(moments, design) is moments
    assert as_public(rows(), design).to_dict() == moments.to_dict()
    assert as_public(of("y~x+g"), design).formula == "y~x+g"


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ x", "Intercept, x; the columns"),
        ("t ~ x + g", "another response or offset"),
        ("y ~ x + g + offset(t)", "another response or offset"),
    ],
)
def test_moments_of_another_model_are_refused(formula, message):
    with pytest.raises(SpecificationError, match=message):
        as_public(of(formula), build_design(FORMULA, SCHEMA))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (rows(5), "more than 5 rows that weigh, got 5"),
        (rows().assign(y=np.nan), "got 0"),
        (rows().assign(g="a"), r"g\[T.b\] is 0 in every public row"),
        (rows().assign(y=0), "the response is 0"),
        (rows().assign(x=0.5), "do not tell Intercept, x apart"),
    ],
)
def test_rows_that_determine_nothing_are_refused(frame, message):
    with pytest.raises(SpecificationError, match=message):
        of(frame=frame)


def test_a_time_to_failure_is_refused():
    with pytest.raises(SpecificationError, match="need a number left of ~"):
        of("Surv(t, died) ~ x", schema=dps.Schema(dict(SCHEMA) | {"t": dps.bounded(0.1, 2)}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(format="dpstats.fit/1"), "not public moments"),
        (dict(format="dpstats.moments/2"), "newer than"),
        (dict(xx=[[1.0]]), r"shape \(4, 4\)"),
        (dict(yy=float("nan")), "finite"),
        (dict(xx=np.triu(np.ones((4, 4)))), "symmetric"),
        (dict(yy=1e-3), "not the moments of any rows"),
    ],
)
def test_edited_moments_are_refused(change, message):
    with pytest.raises(SpecificationError, match=message):
        PublicMoments.from_dict(of("y ~ x + g").to_dict() | change)


def test_incomplete_and_foreign_files_are_refused(tmp_path):
    content = of().to_dict()
    del content["xy"]
    with pytest.raises(SpecificationError, match="lack xy"):
        PublicMoments.from_dict(content)
    for text in ("[1]", "not json"):
        path = tmp_path / "other.json"
        path.write_text(text)
        with pytest.raises(SpecificationError, match="holds no public moments"):
            PublicMoments.load(path)
    with pytest.raises(SpecificationError, match="path: .*nowhere.json cannot be read"):
        PublicMoments.load(tmp_path / "nowhere.json")

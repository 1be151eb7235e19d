"""Moments of public rows, read as private rows are, and whether they fit a model."""

import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dpstats._private import forgetting
from dpstats.errors import FormulaError, SpecificationError
from dpstats.formula import Design, NumericResponse, build_design
from dpstats.moments import PublicColumns, PublicMoments
from dpstats.rows import Rows, open_rows, shared
from dpstats.schema import Schema, as_schema

# Where moments come from, as long as that lives: nothing of it is kept, and nothing of this is saved.
_SOURCES: weakref.WeakKeyDictionary[PublicMoments, weakref.ref[Any]] = weakref.WeakKeyDictionary()


@forgetting
def public_moments(formula: str, frame: Any, schema: Schema, weights: str | None = None) -> PublicMoments:
    """Second moments of public rows, to guide a private fit.

    Rows are read as private ones: values are clipped to the schema's bounds, and rows with a missing or
    undeclared value are switched off. A unit of privacy in the schema does not matter: the rows are public.

    Parameters
    ----------
    formula : str
        Of the model; its ``offset()`` terms are taken off the response.
    frame
        Public rows; a table such as a model takes, or the path of one.
    schema : Schema
    weights : str, optional
        The weights of rows, as in the model.

    Returns
    -------
    PublicMoments
        With ``save(path)``, and :meth:`PublicMoments.load` to read it again.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema or weights, and if the rows are too few or do not determine a
        regression.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> public, private = plant.data.iloc[:500], plant.data.iloc[500:]
    >>> moments = dps.public_moments("PE ~ AT", public, plant.schema)
    >>> moments
    PublicMoments('PE ~ AT', 500 public rows, columns Intercept, AT)
    >>> fit = dps.ols("PE ~ AT", private, plant.schema, public=moments).fit(dps.zcdp(0.5))
    """
    own = Schema(as_schema(schema).variables)
    design = build_design(formula, own, weights)
    moments = _moments(open_rows(frame, design.schema, design.variables), design)
    with suppress(TypeError):  # a text, a list or a dict takes no weak reference
        _SOURCES[moments] = weakref.ref(frame)
    return moments


def check_apart(public: Any, data: Any) -> None:
    """Refuse private rows as public ones: nothing protects what a fit takes from public rows.

    Raises
    ------
    SpecificationError
        If they are one object or one file, or have the memory of a column in common; of moments, if the table
        that they were computed from is still in memory and has.
    """
    source = _SOURCES.get(public) if isinstance(public, PublicMoments) else None
    public = source() if source else public
    if public is not None and data is not None and shared(public, data):
        raise SpecificationError(
            "public= is the private data, or shares a column with them, and nothing protects public rows; "
            "give rows that everyone may see, or leave public= out"
        )


def as_public(public: Any, design: Design) -> PublicMoments:
    """The moments that a model was given as ``public=``, or those of the public rows that it was given.

    Raises
    ------
    SpecificationError
        If the moments are of other columns, another response or another offset than the design's, and as
        :func:`public_moments`.
    """
    if not isinstance(public, PublicMoments):
        own = build_design(design.formula, Schema(design.schema.variables), design.weights, design.subset)
        return _moments(_opened(public, own, own.variables), own)
    _check_names(public, design)
    if public.formula != design.formula:
        other = build_design(public.formula, design.schema, design.weights)
        if _left(other) != _left(design):
            raise SpecificationError(
                f"public= has moments of {public.formula!r}, with another response or offset than "
                f"{design.formula!r}; compute them with the model's formula"
            )
    return public


def as_columns(public: Any, design: Design) -> PublicColumns:
    """What ``public=`` says of the columns alone: moments of any response, or rows that need not have one.

    Raises
    ------
    SpecificationError
        If the moments are of other columns, if rows are too few or do not determine a regression, or if there
        are no covariates that they could tell of.
    """
    if isinstance(public, PublicMoments):
        _check_names(public, design)
        return public.columns
    if not design.covariates:
        raise SpecificationError(f"{design.formula!r} has no covariate for public= to tell of; leave it out")
    p, count = len(design.names), 0
    xx = np.zeros((p, p))
    names = [*design.covariates, *(name for name in design.subsetting if name not in design.covariates)]
    for columns in _opened(public, design, names).blocks():
        exog, ok = design.columns(columns)
        xx, count = xx + exog.T @ exog, count + int(ok.sum())
    xx /= max(count, 1)
    return PublicColumns(design.names, count, (xx + xx.T) / 2)


def stated(public: PublicMoments | PublicColumns | None) -> dict[str, Any] | None:
    """The moments as plain values for JSON, to tell models apart."""
    if public is None or isinstance(public, PublicMoments):
        return None if public is None else public.to_dict()
    return {"names": list(public.names), "n": public.n, "xx": public.xx.tolist()}


def _opened(public: Any, design: Design, names: Sequence[str]) -> Rows:
    """The public rows that a model was given; their unit of privacy does not matter."""
    try:
        return open_rows(public, Schema(design.schema.variables), names)
    except SpecificationError as error:
        raise type(error)(f"public=: {error}") from None


def _check_names(public: PublicMoments, design: Design) -> None:
    if public.names != design.names:
        raise SpecificationError(
            f"public= has moments of {', '.join(public.names)}; the columns of {design.formula!r} are "
            f"{', '.join(design.names)}. Compute them with public_moments({design.formula!r}, ...)"
        )


def _left(design: Design) -> tuple[str, str | None]:
    """What the columns are to explain."""
    return design.response.text, design.offset.text if design.offset else None


def _moments(rows: Rows, design: Design) -> PublicMoments:
    if not isinstance(design.response, NumericResponse):
        raise FormulaError(f"public moments need a number left of ~, not {design.response.text}")
    p = len(design.names)
    joint, weight, count = np.zeros((p + 1, p + 1)), 0.0, 0
    for columns in rows.blocks():
        block = design.read(columns)
        values = np.column_stack([block.exog, block.endog - block.offset])[block.ok]
        share = block.weight[block.ok]
        joint += values.T @ (values * share[:, None])
        weight, count = weight + float(share.sum()), count + len(values)
    if weight > 0:
        joint /= weight
    joint = (joint + joint.T) / 2
    return PublicMoments(design.formula, design.names, count, joint[:p, :p], joint[:p, p], float(joint[p, p]))

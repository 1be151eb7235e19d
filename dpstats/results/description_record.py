"""What a file of a description holds: public facts, and released numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpstats._arguments import frozen
from dpstats.errors import SpecificationError
from dpstats.moments.cell_table import CellTable, CoarseCounts, Noise
from dpstats.moments.described import BoxSums, ColumnSums, Products
from dpstats.results.facts import plain_facts, read_facts
from dpstats.schema import Bounded, Count, Levels, Schema, Variable

if TYPE_CHECKING:
    from dpstats.results.description import Description

_SUMS = ("center", "half", "first", "second", "second_sd")
_PRODUCTS = ("sums", "missing", "sums_sd", "missing_sd")


def plain(found: Description) -> dict[str, Any]:
    """Plain values of a description."""
    products = found.products
    return {
        **plain_facts(found),
        "schema": found.schema.to_dict(),
        "names": list(found.names),
        "columns": [_plain_column(column) for column in found.columns],
        "products": None if products is None else _plain_products(products),
    }


def _plain_column(column: ColumnSums) -> dict[str, Any]:
    table, sums = column.table, column.sums
    return {
        "edges": table.edges.tolist(),
        "counts": table.raw.tolist(),
        "rows": table.rows,
        "noise": list(table.noise),
        **({} if table.coarse is None else {"coarse": _plain_coarse(table.coarse)}),
        "sums": None
        if sums is None
        else {"noise": list(sums.noise), **{name: getattr(sums, name) for name in _SUMS}},
    }


def _plain_products(products: Products) -> dict[str, Any]:
    stretch = {} if products.stretch is None else {"stretch": products.stretch}
    return {"law": products.law, **{name: getattr(products, name).tolist() for name in _PRODUCTS}, **stretch}


def _plain_coarse(coarse: CoarseCounts) -> dict[str, Any]:
    return {
        "places": coarse.places.tolist(),
        "counts": coarse.raw.tolist(),
        "noise": list(coarse.noise),
    }


def built(content: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a description, every value as what it must be."""
    fields = read_facts(content)
    schema = fields["schema"] = Schema.from_dict(fields["schema"])
    names = fields["names"] = tuple(map(str, fields["names"]))
    columns = tuple(_column(schema[name], one) for name, one in zip(names, fields["columns"], strict=True))
    fields["columns"] = columns
    if fields["products"] is not None:
        count = sum(column.sums is not None for column in columns)
        fields["products"] = _products(fields["products"], count)
    return fields


def _column(variable: Variable, content: Mapping[str, Any]) -> ColumnSums:
    number = isinstance(variable, Bounded | Count)
    levels = len(variable.all) if isinstance(variable, Levels) else 2
    bounds = variable.bounds if isinstance(variable, Bounded | Count) else (0.0, levels - 1.0)
    edges, counts = _array(content["edges"]), _array(content["counts"])
    rows = None if content["rows"] is None else float(content["rows"])
    coarse = _coarse(content["coarse"], len(edges)) if "coarse" in content else None
    whole = not isinstance(variable, Bounded)
    table = CellTable(bounds, edges, counts, _noise(content["noise"]), rows, whole, coarse)
    sums = content["sums"]
    rising = bool((np.diff(edges) > 0).all()) and len(counts) == len(edges) + 2
    if not rising or number is (sums is None) or not (number or len(counts) == levels + 1):
        raise SpecificationError("the counts of a saved description are not those of its variables")
    if sums is None:
        return ColumnSums(table, None)
    values = {name: float(sums[name]) for name in _SUMS}
    if not (values["half"] > 0 and values["second_sd"] >= 0):
        raise SpecificationError("the sums of a saved description have no box, or no noise")
    return ColumnSums(table, BoxSums(noise=_noise(sums["noise"]), **values))


def _coarse(content: Mapping[str, Any], edges: int) -> CoarseCounts:
    """Of a table of so many edges."""
    places, counts = np.array(content["places"], dtype=int), _array(content["counts"])
    places.setflags(write=False)
    known = bool(((places >= 0) & (places < edges)).all()) and bool((np.diff(places) > 0).all())
    if not known or len(counts) != len(places) + 2:
        raise SpecificationError("the coarse counts of a saved description are not of its cells")
    return CoarseCounts(places, counts, _noise(content["noise"]))


def _noise(content: Any) -> Noise:
    law, size, sd = content
    if not (int(size) >= 1 and float(sd) >= 0):
        raise SpecificationError("the noise of a saved description has no size")
    return Noise(str(law), int(size), float(sd))


def _products(content: Mapping[str, Any], count: int) -> Products:
    arrays = {name: _array(content[name]) for name in _PRODUCTS}
    if any(array.shape != (count, count) for array in arrays.values()):
        raise SpecificationError("the products of a saved description are not those of its variables")
    stretch = float(content["stretch"]) if "stretch" in content else None
    if stretch is not None and not 1 <= stretch < np.inf:
        raise SpecificationError("the products of a saved description were shortened by no length")
    return Products(law=str(content["law"]), stretch=stretch, **arrays)


def _array(values: Any) -> np.ndarray:
    array = frozen(values)
    if not np.isfinite(array).all():
        raise SpecificationError("the numbers of a saved description must be finite")
    return array

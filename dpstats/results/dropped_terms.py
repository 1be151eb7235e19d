"""Fits without some of their terms, from the same moments (docs/theory/linear.md#terms-left-out)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpstats.errors import SpecificationError
from dpstats.formula import build_design
from dpstats.formula.terms import without_terms
from dpstats.results.cautions import CODES
from dpstats.results.record import Record, given
from dpstats.results.ridge import fields_of


def without(record: Record, terms: Sequence[str]) -> Record:
    """Return what the same release says of the formula without these terms.

    Raises
    ------
    SpecificationError
        If a term is not in the formula, none is named, the other columns would change, or there is a penalty.
    """
    if record.alpha:
        raise SpecificationError("terms are taken out of a fit without penalty; take fit.at_alpha(0) first")
    if not terms:
        raise SpecificationError("no term is named; give one or more, such as fit.drop('x')")
    formula = without_terms(record.formula, terms)
    names = build_design(formula, record.schema, record.weights, record.subset).names
    dropped = np.array([name not in names for name in record.names])
    if not set(names) <= set(record.names):
        other = ", ".join(name for name in names if name not in record.names)
        raise SpecificationError(
            f"without {', '.join(terms)} the formula has other columns, {other}, of which nothing was "
            "released; fit a model of the new formula"
        )
    left = tuple(name for name in record.names if name in names)
    fields = fields_of(given(record.linear).without(dropped), left)
    fields["flags"] = tuple(flag for flag in record.flags if flag[0] not in CODES) + fields["flags"]
    return replace(
        record, **fields, names=left, formula=formula, charged_formula=record.formula, linear=None, alpha=None
    )

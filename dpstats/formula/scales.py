"""A scale for each stratum: the columns that a fit of them reads, and how they make those of the formula.

See docs/theory/survival.md#strata.
"""

from dataclasses import dataclass

import numpy as np

from dpstats.errors import FormulaError
from dpstats.formula.design import Design, build_design


@dataclass(frozen=True)
class Scales:
    """A design in which each stratum has a level of its own, beside the columns that vary in it.

    Attributes
    ----------
    design : Design
        With G columns of the strata, the intercept among them.
    inside : array, shape (G, k)
        Coefficients of its columns that make 1 in one stratum and 0 in all others.
    tied : array, shape (k, p)
        Its coefficients, of those of the formula.
    """

    design: Design
    inside: np.ndarray
    tied: np.ndarray


def scales_of(design: Design) -> Scales:
    """The wider design of one with strata.

    Raises
    ------
    FormulaError
        If a term is of the variables of the strata and not of their levels, or codes levels otherwise beside
        them.
    """
    own = design.by_stratum()
    varying = [name for name, values in zip(design.names, own, strict=True) if values is None]
    wide = _wide(design, own)
    table = wide.by_stratum()
    of_strata = [column for column, values in enumerate(table) if values is not None]
    levels = np.column_stack([values for values in table if values is not None])
    if len(wide.names) - len(of_strata) != len(varying) or not set(varying) <= set(wide.names):
        terms = " * ".join(design.strata_terms)
        raise FormulaError(f"products with the categories of strata need them, too: write {terms} + ...")
    inside = np.zeros((design.strata, len(wide.names)))
    inside[:, of_strata] = np.linalg.inv(levels).T
    tied = np.zeros((len(wide.names), len(design.names)))
    for column, (name, values) in enumerate(zip(design.names, own, strict=True)):
        if values is None:
            tied[wide.names.index(name), column] = 1.0
        else:
            tied[of_strata, column] = np.linalg.solve(levels, values)
    return Scales(wide, inside, tied)


def _wide(design: Design, own: tuple[np.ndarray | None, ...]) -> Design:
    """The design with the strata as a term, in the place of terms that are of them alone."""
    response, _ = design.formula.split("~", 1)
    kept = [name for name, columns in design.terms if any(values is None for values in own[columns])]
    extra = [design.offset.text] if design.offset else []
    terms = [":".join(design.strata_terms), *kept, *extra, f"strata({', '.join(design.strata_terms)})"]
    return build_design(
        f"{response}~ {' + '.join(terms)}", design.schema, design.weights, design.subset, scales=True
    )

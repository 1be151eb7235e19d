"""A formula and a schema -> a design that is complete before any row is read (docs/theory/rows.md)."""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tabulate import tabulate

from dpstats._arguments import brief, frozen, is_line, untyped
from dpstats.errors import FormulaError
from dpstats.formula import grammar
from dpstats.formula.beside import read_subset, read_weights, split_offset
from dpstats.formula.block import Filler
from dpstats.formula.expressions import bounds_of
from dpstats.formula.factor_reader import read_factor
from dpstats.formula.factors import NumericFactor
from dpstats.formula.layout import Columns, column_bounds, columns, radius
from dpstats.formula.middles import MiddledProducts
from dpstats.formula.newdata import NewRows, RowError, covariate_block
from dpstats.formula.reader import NARROWEST
from dpstats.formula.response import IntervalResponse, NumericResponse, Response, SurvResponse, read_response
from dpstats.formula.strata import Axis, Strata, split_strata
from dpstats.schema import Event, Flag, Schema, as_schema, bounded


@dataclass(frozen=True, repr=False, eq=False)
class Design(Filler):
    """The columns of a model, with public bounds; a row-wise function of a block. It holds no data.

    Attributes
    ----------
    formula : str
    schema : Schema
    names : tuple of str
        Names of the p columns, as patsy gives them.
    bounds : array of shape (p, 2)
        Lower and upper bound of each column.
    radius : float
        Bound of the Euclidean norm of a row.
    response : SurvResponse, IntervalResponse or NumericResponse
    variables : tuple of str
        All declared variables that are read, in the schema's order.
    has_intercept : bool
    notes : tuple of str
        Remarks on the formula, such as an operator that means something else than arithmetic.
    offset : Offset or None
        The sum of the formula's ``offset()`` terms.
    weights : str or None
        The expression of the rows' weights.
    subset : str or None
        The condition for a row to weigh.
    max_weight : float
        Public maximum of a row's weight; 1 without weights.
    own : array of bool, shape (p,)
        Whether a column is a term of its own, of variables that no other term reads: no levels of one
        category, no products nor what they are made of, no powers.
    levels : array, shape (m, k)
        What rows of each level of each category hold in its columns, where these are several; nan elsewhere.
    norms : tuple of (tuple of int, float)
        Columns that are no longer together than a declared norm, and its radius.
    binary : array of bool, shape (p,)
        Columns that hold nothing but their two bounds: flags, levels, and products of these.
    terms : tuple of (str, slice)
        The terms of the formula, the intercept among them, and the columns of each.
    baseline : bool
        Whether a baseline hazard stands in the place of the intercept, which then is no column.
    scales : bool
        Whether ``strata()`` terms give the rows of each level a scale of their own.
    middles : tuple of (str, (float, float, float))
        Numbers by their texts, about which products and powers of them are told, see `about`; and between
        which ends most of each lie.
    way : array, shape (p, p), or (p + 1, p) with a baseline
        What takes coefficients of the columns to those of the formula's, which have no middles, and to what
        is then added to a baseline.
    """

    formula: str
    names: tuple[str, ...]
    bounds: np.ndarray
    radius: float
    has_intercept: bool
    notes: tuple[str, ...]
    weights: str | None
    subset: str | None
    max_weight: float
    terms: tuple[tuple[str, slice], ...]
    baseline: bool
    scales: bool
    middles: tuple[tuple[str, tuple[float, float, float]], ...]
    way: np.ndarray
    _products: MiddledProducts

    @property
    def delayed(self) -> bool:
        """Whether rows may enter late, as ``Surv(entry, time, event)`` says, or those of a stratum do."""
        return self.response.delayed or self._axis is not None

    @property
    def strata(self) -> int:
        """Number of groups of rows with a baseline or a scale of their own, as ``strata()`` says; or 1."""
        return self._strata.count if self._strata else 1

    @property
    def strata_terms(self) -> tuple[str, ...]:
        """The categories of strata, as terms of a formula."""
        return self._strata.terms if self._strata else ()

    @property
    def strata_labels(self) -> tuple[str, ...]:
        """Names of the strata, in the order of their numbers; none without strata."""
        return self._strata.labels if self._strata else ()

    @property
    def movable(self) -> tuple[str, ...]:
        """Numbers whose products and powers can be told about middles, see :mod:`.middles`."""
        return self._products.numbers

    @property
    def of_movable(self) -> "Design":
        """The design whose columns are the `movable` numbers alone."""
        response, _ = self.formula.split("~", 1)
        terms = " + ".join(f"I({name})" for name in self.movable)
        return build_design(f"{response}~ {terms}", self.schema, self.weights, self.subset)

    def about(self, middles: Mapping[str, tuple[float, float, float]]) -> "Design":
        """The design whose products and powers are of numbers less public middles, and span the same."""
        own, chosen = self._parts(), tuple(middles.items())
        return self if chosen == self.middles else build_design(*(*own[:-1], chosen))

    @functools.cached_property
    def likely(self) -> np.ndarray:
        """Bounds of the columns where variables lie as `middles` say, shape (p, 2).

        Of a column that is one number there, such as a hinge, they are the declared ones.
        """
        coding, factors, _ = self._products.about({name: middle for name, (middle, _, _) in self.middles})
        near = {
            name: bounded(low, high)
            for name, (_, low, high) in self.middles
            if name in self.schema and low < high
        }
        schema = Schema(self.schema.variables | near)
        inside = {
            code: replace(factor, bounds=(bounds_of(factor.expression, schema),))
            if isinstance(factor, NumericFactor)
            else factor
            for code, factor in factors.items()
        }
        found = np.array([column_bounds(product) for product in columns(coding.subterms, inside)])
        return frozen(np.where(np.ptp(found, axis=1, keepdims=True) > 0, found, self.bounds))

    def edges(self, start: float, times: np.ndarray) -> np.ndarray:
        """Edges of cells of time from `start` to these times, which end with the bound, in all strata."""
        return self._axis.edges(times) if self._axis else np.append(start, times)

    @property
    def intervals(self) -> bool:
        """Whether failures may lie between two times, as ``type="interval2"`` says."""
        return isinstance(self.response, IntervalResponse)

    @property
    def numeric(self) -> NumericResponse:
        """The response of a design where it is a number."""
        assert isinstance(self.response, NumericResponse)
        return self.response

    @property
    def time_bounds(self) -> tuple[float, float]:
        """Public bounds of the time of a survival response."""
        assert not isinstance(self.response, NumericResponse)
        return self.response.time_bounds

    @property
    def counts_units(self) -> bool:
        """Whether rows may stand for several units, which are watched alike and leave at the same time."""
        return self.weights is not None and isinstance(self.response, SurvResponse | IntervalResponse)

    @property
    def offset_bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the offset; zeros without one."""
        return self.offset.bounds if self.offset else (0.0, 0.0)

    def spanning(self, block: Mapping[str, np.ndarray], size: int) -> np.ndarray:
        """Rows of the columns, inside the subset or not, after those of baseline hazards, if it has any."""
        exog, _, ok, leaves = self._predictor(block, size)
        if self._axis and self._strata:
            exog = np.column_stack([np.eye(self.strata)[self._strata.codes(leaves, ok)], exog])
        elif self.baseline:
            exog = np.column_stack([np.ones(size), exog])
        return exog[ok]

    def new_rows(self, newdata: Any, clip: bool, asked: str = "newdata", gaps: bool = False) -> NewRows:
        """Rows of the design and offsets for new, public data.

        Parameters
        ----------
        newdata
            A dict of scalars or columns, a list of dicts, or a frame, with the covariates of the formula,
            those of its offset included.
        clip : bool
            Move values to their public bounds, as the rows of a fit are, but for those of the offset alone.
            Else they are extrapolated to; the basis of a spline is constant beyond its boundary knots.
        asked : str
            The argument that has them, which errors name.
        gaps : bool
            Leave out rows that lack a value; else they are refused.

        Raises
        ------
        SpecificationError
            If a covariate is missing, a value is missing or has an undeclared level, or a term is not defined
            where a value is.
        """
        block, whole, outside = covariate_block(newdata, self.schema, self.covariates, asked, gaps, self.free)
        size = int(whole.sum())
        exog, offset, ok, values = self._predictor(block, size, clip, self.free)
        stratum = self._strata.codes(values, ok) if self._strata else np.zeros(size, dtype=int)
        if not ok.all():
            row = int(np.argmin(ok))
            at = {name: each[row] for name, each in block.items() if not self.schema[name].all}
            far = [name for name, one in at.items() if np.clip(one, *self.schema[name].bounds) != one]
            raise RowError(
                asked,
                int(np.flatnonzero(whole)[row]),
                f": a value of {', '.join(far)} lies outside its public bounds, where a term of the formula "
                "is not defined; clip=True moves values to their bounds",
            )
        return NewRows(exog, offset, values, stratum, outside, whole)

    def __repr__(self) -> str:
        rows = [
            (name, f"{lower:.6g}", f"{upper:.6g}")
            for name, (lower, upper) in zip(self.names, self.bounds, strict=True)
        ]
        table = tabulate(
            rows,
            headers=("column", "lower", "upper"),
            disable_numparse=True,
            colalign=("left", "right", "right"),
        )
        return "\n".join(
            [
                self.formula,
                "",
                table,
                "",
                f"Response: {_describe(self.response)}",
                f"Radius: {self.radius:.6g} (no row is longer)",
                *self._extras(),
                *(f"Note: {note}" for note in self.notes),
                "No row was read.",
            ]
        )

    def _extras(self) -> Iterator[str]:
        if self.offset:
            lower, upper = self.offset.bounds
            yield f"Offset: {self.offset.text}, between {lower:.6g} and {upper:.6g}"
        if self._strata:
            kind = "scales" if self.scales else "baseline hazards"
            yield f"Strata: {self._strata.text}, {self.strata} {kind}"
        if self.weights is not None:
            yield f"Weights: {self.weights}, at most {self.max_weight:.6g}"
        if self.subset is not None:
            yield f"Subset: {self.subset} (other rows count in n, and weigh nothing)"

    def _parts(self) -> tuple[Any, ...]:
        return (
            self.formula,
            self.schema,
            self.weights,
            self.subset,
            self.baseline,
            self.scales,
            self.middles,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __reduce__(self) -> tuple[Any, ...]:
        return build_design, self._parts()


def build_design(
    formula: str,
    schema: Schema,
    weights: str | None = None,
    subset: str | None = None,
    baseline: bool = False,
    scales: bool = False,
    middles: tuple[tuple[str, tuple[float, float, float]], ...] = (),
) -> Design:
    """Read a formula in patsy's language, with the public declarations of its variables.

    Parameters
    ----------
    formula : str
        Its right side may have ``offset()`` terms (docs/theory/rows.md#row-wise-formulas).
    schema : Schema
    weights : str, optional
        The rows' weights, an expression such as ``"w"``, between 0 and a public maximum.
    subset : str, optional
        The condition under which a row weighs, such as ``"x > 1 and maker == 'WDC'"``.
    baseline : bool
        Whether the model has a baseline hazard in the place of the intercept. Levels are coded as with an
        intercept, which is no column.
    scales : bool
        Whether ``strata()`` terms may give the rows of each level a scale of their own.
    middles : tuple of (str, (float, float, float))
        Of numbers, by their texts, about which products and powers of them are told, see `Design.about`.

    Raises
    ------
    FormulaError
        If the formula cannot be read, names an undeclared variable, is not row-wise, or has no public bound;
        if weights may be negative, or the subset is no condition.
    """
    if not isinstance(formula, str) or ("~" not in formula and not is_line(formula)):  # a column, or a file
        raise FormulaError(
            f"a formula is a text such as 'y ~ x', not {untyped(formula)}; it comes first: dps.ols(formula, "
            "data, schema)"
        )
    schema = as_schema(schema)
    spelt = repr((*schema.items(), *schema.norms, schema.privacy_unit))
    asked = spelt, schema, formula, weights, subset, baseline, scales, middles
    texts = all(isinstance(text, str | None) for text in (weights, subset))  # what is none is refused
    try:
        return _built(*asked) if texts else _built.__wrapped__(*asked)
    except FormulaError as error:
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", f"{formula} {weights} {subset}" if texts else formula)
        for name in schema:
            if (
                not name.isidentifier()
                and re.sub(r"\s", "", name) in re.sub(r"\s", "", bare)
                and f"Q({name!r})" not in str(error)
            ):
                quoted = f"write Q({name!r}) for the variable"
                alone = name in bare and re.search(r"[^\w.+*/:-]", name)  # nothing else was meant by it
                why = "its name has blanks or signs, which a formula reads as its own"
                raise FormulaError(f"{quoted}: {why}" if alone else f"{error}; {quoted}") from None
        raise


@functools.lru_cache(maxsize=8)  # a model, its fit and the fit's tables ask for one design again and again
def _built(  # noqa: PLR0913 - what a design is built of
    spelt: str,
    schema: Schema,
    formula: str,
    weights: str | None,
    subset: str | None,
    baseline: bool,
    scales: bool,
    middles: tuple[tuple[str, tuple[float, float, float]], ...],
) -> Design:
    """A design of a schema spelt so: an equal one may list its variables in another order."""
    grammar.check_operators(formula)
    left, right = grammar.parse_formula(formula)
    response = read_response(_one_response(left, formula), schema)
    _check_norms(response, schema)
    terms, offset = split_offset(right, schema)
    grouped = baseline or scales
    terms, strata, axis = _split_groups(terms, schema, response, baseline) if grouped else (terms, None, None)
    weighing = None if weights is None else read_weights(weights, schema)
    inside = None if subset is None else read_subset(subset, schema)
    told = _products(terms, schema, formula, baseline)
    coding, factors, way = told.about({name: middle for name, (middle, _, _) in middles})
    products = columns(coding.subterms, factors)
    bounds = frozen(np.array([column_bounds(product) for product in products]))
    longest = radius(coding.subterms, factors, bounds, Columns(schema, factors, products).norms)
    if longest < NARROWEST:
        raise FormulaError(f"every column of the formula {brief(formula)} is 0, or nearly, by public bounds")
    design = Design(
        schema,
        factors,
        products,
        response,
        offset,
        weighing,
        inside,
        strata,
        axis,
        formula,
        coding.names,
        bounds,
        longest,
        any(not subterm.factors for subterm in coding.subterms),
        grammar.notes_on(formula),
        weights,
        subset,
        weighing.bounds[1] if weighing else 1.0,
        coding.terms,
        baseline,
        scales,
        middles,
        way,
        told,
    )
    _check_repeated(design)
    return design


def _products(terms: grammar.Terms, schema: Schema, formula: str, baseline: bool) -> MiddledProducts:
    """The columns of the terms."""
    factors = {code: read_factor(code, schema) for term in terms for code in term}
    grammar.check_removed(formula)
    coding = grammar.code_terms(terms, factors)
    if baseline:
        coding = grammar.without_intercept(coding, formula)
    if not coding.names:
        raise FormulaError(f"{brief(formula)} has no column on the right of ~ (1 is an intercept)")
    return MiddledProducts(coding, factors, schema, baseline)


def _split_groups(
    terms: grammar.Terms, schema: Schema, response: Response, baseline: bool
) -> tuple[grammar.Terms, Strata | None, Axis | None]:
    """Take ``strata()`` out of the terms; for a `baseline` of each, on one axis of time."""
    terms, strata = split_strata(terms, schema)
    if not baseline or strata is None:
        return terms, strata, None
    if not isinstance(response, SurvResponse):
        return terms, None, None
    return terms, strata, Axis(strata, response.start, response.time_bounds[1])


def _check_repeated(design: Design) -> None:
    """Refuse a term of the response; of a change a term may read its beginning, of a life its entry."""
    response = design.response
    for name in sorted(response.variables & set(design.covariates)):
        if response.measured.variables == {name} or isinstance(design.schema[name], Event | Flag):
            raise FormulaError(
                f"{name!r} is the response of {brief(design.formula)}, and explains itself; "
                "leave it out right of ~"
            )


def _check_norms(response: Response, schema: Schema) -> None:
    """Refuse a response that a norm would shorten together with covariates."""
    for norm in schema.norms:
        for name in norm.read(sorted(response.variables)):
            raise FormulaError(
                f"the response reads {name!r}, which is in the {norm}; declare a norm of covariates alone"
            )


def _one_response(left: grammar.Terms, formula: str) -> str:
    if len(left) == 1 and len(left[0]) == 1:
        return left[0][0]
    raise FormulaError(
        f"the formula {brief(formula)} needs one response on the left of ~, for example "
        "'Surv(time, event) ~ x' or 'y ~ x'; arithmetic stands in I(), such as I(cost / 1000) ~ x"
        + ("" if "~" in formula else "; it has no ~, and with ~ 1 at its end it is one without covariates")
    )


def _describe(response: Response) -> str:
    if isinstance(response, SurvResponse):
        lower, upper = response.time_bounds
        failed = "; every row is a failure" if response.all_failed else ""
        entry = (
            ""
            if response.entry_bounds is None
            else ("entry between {:.6g} and {:.6g}, ".format(*response.entry_bounds))
        )
        return f"{response.text}, {entry}time between {lower:.6g} and {upper:.6g}, censored beyond{failed}"
    if isinstance(response, IntervalResponse):
        lower, upper = response.time_bounds
        known = "before" if response.left else "between"
        return f"{response.text}, time between {lower:.6g} and {upper:.6g}, seen or known to lie {known}"
    assert isinstance(response, NumericResponse)
    return f"{response.text} between {response.bounds[0]:.6g} and {response.bounds[1]:.6g}"

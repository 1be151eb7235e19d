"""Fits of any model: an immutable record of released numbers, and what follows from it for all models.

What any of them has saved is read back here, and several stand side by side in a table, with what each cost
(R's modelsummary, statsmodels' summary_col).
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dpstats._arguments import Axes, among, near, shown, truth
from dpstats._private import always_shown, forgetting
from dpstats._stored import read_object
from dpstats.errors import SpecificationError
from dpstats.results.coefficients import Coefficients
from dpstats.results.column_moments import ColumnMoments, has_columns, moments_of
from dpstats.results.description import Description
from dpstats.results.document import COMFORTABLE, NOT_ESTIMABLE, Document, Estimates, exposed, width_of
from dpstats.results.intervals import bse, criterion, limits, p_values, privacy_share, refuse_alpha, z_values
from dpstats.results.newdata import NewData, Points, points
from dpstats.results.notreleased import refusal
from dpstats.results.plotting import chosen, plot_coef
from dpstats.results.prediction import TIMES_ONLY, Prediction, averaged, prediction
from dpstats.results.record import Record, described_record, record_of
from dpstats.results.released import value_where
from dpstats.results.summary import (
    Words,
    coefficient_table,
    dead,
    estimand,
    lines_of,
    notes,
    short,
)
from dpstats.results.survival_curve import CurveFit
from dpstats.results.table import Column, Table, banner, figures, heading, percent, price
from dpstats.results.units import Units, in_units, units_of_each


class Fit(Coefficients):
    """A private fit: estimates with intervals that count the noise, and what follows from them.

    It holds names, estimates, covariances and public declarations (see `Record`, whose fields are the
    keywords of the constructor) and no pointer to a model, to data, to noise or to a seed. Everything else is
    computed from these, without further cost in privacy. What is missing on purpose raises `NotReleased`.

    Each kind of model has its own: `LinearFit`, `GlmFit`, `SurvivalFit`, `HazardFit` and `SvmFit`, of which
    ``Fit(model=..., ...)`` makes the one that its model has.

    Examples
    --------
    >>> import dpstats as dps
    >>> cps = dps.datasets.load("cps1988")
    >>> fit = dps.ols("np.log(wage) ~ education + region", cps.data, cps.schema).fit(dps.zcdp(0.5))
    >>> fit.names
    ('Intercept', 'region[T.midwest]', 'region[T.south]', 'region[T.west]', 'education')
    >>> point = {"education": 12, "region": "south"}
    """

    __slots__ = ()
    _bounds: ClassVar[Mapping[str, Words]] = {}  # setting that bounds a score or a row: how to say so
    _predicts: ClassVar[tuple[str, ...]] = ("response", "lp", "link")

    def __new__(cls, **released: Any) -> "Fit":
        kind = cls._kinds.get(released.get("model", ""))
        if kind is None:
            raise SpecificationError(
                f"this version of dpstats has no fits of {shown(released.get('model'))}, but of "
                f"{', '.join(cls._kinds)}; a newer one may have"
            )
        if not issubclass(kind, cls):
            raise SpecificationError(
                f"a fit of {released['model']} is a {kind.__name__}, not a {cls.__name__}"
            )
        return object.__new__(kind)

    @property
    def _title(self) -> str:
        """Title of a summary by default, without the word "Private"."""
        return self.record.model

    @property
    def _heading(self) -> str:
        """Title of a summary, without the word "Private"."""
        return self.record.title or self._title

    @property
    def _last_remark(self) -> str:
        """Sentences at the end of the first note of a summary, each with a blank before it."""
        return ""

    def _remark(self) -> str:
        """Sentences of a summary about this kind of fit, after what standard errors count."""
        return ""

    def _tables(self, level: float, scaled: Record) -> list[Table]:
        """Tables of a summary below the coefficients; `scaled` is the record in the units asked for."""
        return []

    @value_where(has_columns)
    def moments(self) -> ColumnMoments:
        """Means, sds and, where they were released, correlations of the columns, with intervals."""
        return moments_of(self.record)

    def _sd_obs(self) -> float | None:
        """Sd of a response about its mean, where errors are taken as normal and it was released."""
        return None

    def _prediction(self, at: Points, average: bool = False) -> Prediction:
        return averaged(self.record, at) if average else prediction(self.record, at, self._sd_obs())

    def _predicted(self, at: Points, link: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions of the mean, or of the linear predictor, and their standard errors."""
        if link:
            found = prediction(self.record, at, None)
            return found.linear, found.se_linear
        found = self._prediction(at)
        return found.predicted_mean, found.se_mean

    def predict(
        self,
        newdata: NewData | None = None,
        type: str = "response",
        *,
        se_fit: bool = False,
        clip: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict at new data.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        type : {"response", "lp", "link"}
            As in R: "response" is the linear predictor on the scale of the response (the mean of a GLM, a
            probability for logit; the label, 1 or 0, of a support vector machine; of a linear model moved to
            the public bounds of the response, which a warning says), "lp" or "link" the linear predictor,
            offset included.
        se_fit : bool
            Add standard errors by the delta method, on the scale of what is predicted; `get_prediction` has
            intervals.
        clip : bool
            Move values to their public bounds. Else the fit is extrapolated, and a warning says so.

        Returns
        -------
        Series of m values; with `se_fit` a DataFrame with columns ``predicted`` and ``se_fit``.
            NaN where a row lacks a value or rests on a coefficient that is not estimable, which warnings say.

        Raises
        ------
        NotReleased
            Without `newdata`: predictions for the training rows would reveal them.
        SpecificationError
            For an unknown `type`.

        Examples
        --------
        >>> fit.predict([point, {"education": 16, "region": "south"}])
        0    ...
        1    ...
        Name: predicted, dtype: float64
        """
        if not among(type, (*self._predicts, "quantile")):
            kinds = ", ".join(self._predicts)
            raise SpecificationError(
                f"type must be one of {kinds}; got {shown(type)}{near(type, self._predicts)}"
            )
        at = points(self.record, newdata, "predict", clip, gaps=True)
        if type == "quantile":
            raise refusal("quantile", TIMES_ONLY[0].format(model=self.record.model), "Use predict().")
        values, errors = self._predicted(at, type != "response")
        found = at.among_given(pd.DataFrame({"predicted": values, "se_fit": errors}))
        return found if truth("se_fit", se_fit) else found["predicted"]

    def get_prediction(
        self, newdata: NewData | None = None, *, clip: bool = False, average: bool = False
    ) -> Prediction:
        """Return predictions on the scale of the response with standard errors and limits.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        clip : bool
            As in `predict`.
        average : bool
            Average the mean over the rows, which then stand for a population: one value with its error, as
            in statsmodels. With a level set for all of them it is the standardised mean of that level;
            `marginal_effects` has the differences. No row may lack a value then.

        Returns
        -------
        Prediction
            With ``predicted_mean``, ``se_mean``, ``conf_int(level)`` and ``summary_frame(level)``. NaN where
            a row lacks a value, which a warning says.

        Examples
        --------
        >>> fit.get_prediction(point).conf_int(level=0.9).shape
        (1, 2)
        >>> fit.get_prediction([point, {"education": 16, "region": "south"}], average=True).se_mean.shape
        (1,)
        """
        at = points(self.record, newdata, "get_prediction", clip, gaps=not truth("average", average))
        found = self._prediction(at, average)
        if average:
            return found
        every = at.among_given(pd.DataFrame({"linear": found.linear, "se": found.se_linear}))
        return replace(found, linear=every["linear"].to_numpy(), se_linear=every["se"].to_numpy())

    def augment(
        self, newdata: NewData | None = None, level: float = 0.95, *, clip: bool = False
    ) -> pd.DataFrame:
        """Return new data with broom's columns ``.fitted``, ``.se_fit``, ``.lower`` and ``.upper``.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
            Required: broom's ``augment()`` of the training rows would reveal them.
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        DataFrame of m rows

        Examples
        --------
        >>> list(fit.augment(point).columns)
        ['education', 'region', '.fitted', '.se_fit', '.lower', '.upper']
        """
        at = points(self.record, newdata, "augment", clip, gaps=True)
        frame = self._prediction(at).summary_frame(level).iloc[:, :4]
        frame.columns = pd.Index([".fitted", ".se_fit", ".lower", ".upper"])
        return pd.concat([at.given(), at.among_given(frame)], axis=1)

    def plot_coef(
        self,
        terms: Sequence[str] | None = None,
        level: float = 0.95,
        across_range: bool = False,
        ax: Axes | None = None,
        *,
        exponentiate: bool = False,
        units: Units | None = None,
    ) -> Axes:
        """Plot coefficients with intervals, the part due to privacy noise in a lighter colour.

        The dark part is as long as the interval would be without the noise, so that the rest shows what a
        larger budget could take away. Needs matplotlib.

        Parameters
        ----------
        terms : sequence of str, optional
            Default: all but the intercept and ``Log(scale)``.
        level : float
        across_range : bool
            Multiply each coefficient by the width of its column's public bounds, so that columns in
            different units can share the axis.
        ax : matplotlib Axes, optional
            Draw here; default: the axes of a new figure, ``plot_coef().figure``.
        exponentiate : bool
            Draw ratios on a logarithmic axis, of a model that has them.
        units : dict, optional
            Of some covariates, how many units a line is of, as in `summary`: ``{"age": 10}``.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        SpecificationError
            For unknown terms, for ratios of a model that has none, and for `units` with `across_range`.

        Examples
        --------
        >>> fit.plot_coef(["education"]).figure.savefig("education.png")
        """
        record, label = in_units(self.record, units), "coefficient"
        names = [record.names[self.record.names.index(term)] for term in chosen(self.record, terms)]
        widths = np.ones(len(record.names))
        if truth("across_range", across_range):
            if units is not None:
                raise SpecificationError("across_range=True is of all units in the bounds; leave units= out")
            widths[: record.n_location] = np.diff(record.design.bounds).ravel()
            label = f"change of the {self._response} across the public range"
        if truth("exponentiate", exponentiate):
            self._check_ratios()
            span = "across the public range" if across_range else "per unit"
            label = f"{self._ratio} {span}, logarithmic axis"
        return plot_coef(record, names, widths, label, level, ax, self._ratio if exponentiate else "")

    def summary(
        self, level: float = 0.95, *, units: Units | None = None, width: int | None = None
    ) -> Document:
        """Return the full table; ``print`` it, or see it as HTML in a notebook.

        Parameters
        ----------
        level : float
            Confidence level of all intervals.
        units : dict, optional
            Of some covariates, how many units a coefficient and a ratio are of: ``{"balance": 1000}``.
        width : int, optional
            Longest line of the text in characters, from 40 to 1000.

        Returns
        -------
        Document
            With ``as_text()``, ``as_html()``, ``as_latex()``, ``as_markdown()`` and ``as_csv()``.

        Examples
        --------
        >>> print(fit.summary(level=0.9).as_text(width=72))
        Private linear regression...
        """
        refuse_alpha(level)
        scaled = in_units(self.record, units)
        lost = dead(self.record)
        tables = () if lost else (coefficient_table(scaled, level), *self._tables(level, scaled))
        said = notes(self.record, self._remark(), self._last_remark, tables)
        return Document(
            width=None if width is None else width_of(width),
            title=heading(self.record, self._heading),
            banner=banner(self.record),
            head=lines_of(self.record, estimand(self.record, self._bounds)),
            tables=tables,
            notes=tuple(said[1:] if lost else said),
        )

    def _plain(self) -> dict[str, Any]:
        return described_record(self.record)

    @classmethod
    def _built(cls, content: Mapping[str, Any]) -> Any:
        return cls._of(record_of(content))

    @classmethod
    def _of(cls, record: Record) -> Any:
        fit = cls.__new__(Fit, model=record.model)
        object.__setattr__(fit, "record", record)
        return fit

    @always_shown
    def __repr__(self) -> str:
        return short(self.record, self._heading)

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    def _repr_latex_(self) -> str:
        return self.summary().as_latex()

    @property
    def __maketables_coef_table__(self) -> pd.DataFrame:
        """Coefficients as the package maketables asks for them, and the share of privacy noise.

        See its PLUGIN_EXTRACTOR_FORMAT.md, for this and what follows. Nothing of it is imported.
        """
        record = self.record
        (low90, high90), (low95, high95) = (limits(record, level) for level in (0.9, 0.95))
        columns = {
            "b": record.params,
            "se": bse(record),
            "t": z_values(record),
            "p": p_values(record),
            "ci95l": low95,
            "ci95u": high95,
            "ci90l": low90,
            "ci90u": high90,
            "privacy_share": privacy_share(record),
        }
        return pd.DataFrame(columns, index=pd.Index(record.names, name="Coefficient"))

    @property
    def __maketables_depvar__(self) -> str:
        """Name of the response, for tables of the package maketables."""
        return self.model.endog_names

    __maketables_vcov_info__: ClassVar = {"vcov_type": "sampling and privacy noise"}
    __maketables_default_stat_keys__: ClassVar = ["N", "budget"]  # rows below the coefficients
    __maketables_stat_labels__: ClassVar = {"N": "Observations", "budget": "Privacy"}

    def __maketables_stat__(self, key: str) -> Any:
        """Return a statistic by maketables' name; None where it was not released."""
        known = {"N": self.nobs, "budget": price(self.record), "model_type": self.record.model}
        if key == "r2" and hasattr(self, "rsquared"):
            return float(self.rsquared)
        return known.get(key)


# by what a file says that it is, whatever the version
_KINDS = {kind._format.partition("/")[0]: kind for kind in (CurveFit, Description)}


@forgetting
def load(path: str | Path) -> Any:
    """Read what the `save` of a fit, of a Kaplan-Meier curve or of a description wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Fit, CurveFit or Description
        A fit is of the kind that its model has.

    Raises
    ------
    SpecificationError
        If the file is none of these, in this or an earlier version of the format.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> dps.ols("PE ~ AT", plant.data, plant.schema).fit(dps.gdp(1)).save("plant.json")
    >>> dps.load("plant.json").formula
    'PE ~ AT'
    """
    said = str(read_object(path, Fit._unreadable).get("format")).partition("/")[0]
    return _KINDS.get(said, Fit).load(path)


BESIDE = 4  # fits in one table, fewer where names are long; more follow below
LABEL, GAP = 22, 2
NOTE = (
    "Standard errors, in parentheses, count sampling and privacy noise; 'privacy' is the median share "
    "of their squares due to privacy. Fits of the same rows add up: a ledger knows their total."
)


@forgetting
def compare(
    *fits: Fit,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    exponentiate: bool = False,
    units: Units | None = None,
) -> Estimates:
    """Lay out fits side by side: coefficients, standard errors in parentheses, and budgets.

    Parameters
    ----------
    *fits : Fit
        Fits of any models.
    names : sequence of str, optional
        The heads of their columns; default: (1), (2), ...
    level : float
        The level of the limits in ``.frame``.
    exponentiate : bool
        Report ratios, as in `Fit.tidy`; standard errors stay those of coefficients.
    units : dict, optional
        Of some covariates, how many units a coefficient is of, as in `Fit.tidy`: ``{"age": 10}``. A fit
        without one stays as it is.

    Returns
    -------
    Estimates
        In ``.frame``, the rows of `Fit.tidy` of all fits, with a column ``fit``.

    Raises
    ------
    SpecificationError
        If there is nothing to compare, names and fits differ in number, one has no ratios, or none has a
        coefficient per unit of a covariate in `units`.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> fits = [dps.ols(f"PE ~ {x}", plant.data, plant.schema).fit(dps.gdp(1)) for x in ("AT", "V")]
    >>> dps.compare(*fits, names=["temperature", "vacuum"]).frame["fit"].unique().tolist()
    ['temperature', 'vacuum']
    """
    if not fits or not all(isinstance(fit, Fit) for fit in fits):
        raise SpecificationError(
            "compare(a, b, ...) takes fits with coefficients, as model.fit(budget) returns them, and no "
            "curves; of a list compare(*fits)"
        )
    given = [f"({i + 1})" for i in range(len(fits))] if names is None else names
    heads = list(map(str, given)) if isinstance(given, list | tuple) else []
    if len(heads) != len(fits) or len(set(heads)) != len(heads):
        wrong = shown(names)
        raise SpecificationError(f"names must be {len(fits)} different texts, one for each fit, got {wrong}")
    each = units_of_each([fit.record for fit in fits], units)
    frames = [
        fit.tidy(conf_int=True, level=level, exponentiate=exponentiate, units=own).assign(fit=head)
        for fit, head, own in zip(fits, heads, each, strict=True)
    ]
    frame = pd.concat(frames, ignore_index=True)
    found = Estimates(
        frame[["fit", *frames[0].columns.drop("fit")]], lambda: _document(fits, heads, exponentiate, each)
    )
    return exposed(found) if any(fit.record.not_private for fit in fits) else found


def _document(
    fits: Sequence[Fit], heads: list[str], exponentiate: bool, units: Sequence[Units | None]
) -> Document:
    records = [in_units(fit.record, own) for fit, own in zip(fits, units, strict=True)]
    terms: dict[str, str] = {}
    for name in (name for record in records for name in record.names):
        terms.setdefault(_plain(name), name)
    widest = max(
        map(len, [*heads, *(name for record in records for name in (record.model, _family(record)))])
    )
    beside = min(BESIDE, max((COMFORTABLE - LABEL) // (widest + GAP), 1))
    tables = [
        _table(records[start : start + beside], heads[start : start + beside], terms, exponentiate)
        for start in range(0, len(records), beside)
    ]
    lines = tuple(((head, _about(fit)),) for head, fit in zip(heads, fits, strict=True))
    what = [fit._ratio if exponentiate else fit._response for fit in fits]
    told = ", ".join(f"{head} {one}" for head, one in zip(heads, what, strict=True))
    notes = (NOTE, *([f"Coefficients are not of one thing: {told}."] if len(set(what)) > 1 else []))
    if any(record.loglik is not None for record in records):
        notes += ("Beside a log-likelihood and an AIC stands the sd of their noise.",)
    return Document(title="Fits side by side", head=lines, tables=tuple(tables), notes=notes)


def _about(fit: Fit) -> str:
    record = fit.record
    shared = "" if record.charged_alpha is None else ", shared with another penalty"
    codes = ", ".join(code for code, _ in record.flags)
    asked = (("subset", record.subset), ("weights", record.weights))
    whose = "".join(f"; {name} {text}" for name, text in asked if text)
    return (
        f"{heading(record, fit._heading)}: {fit.formula}{whose}. {record.method}. {price(record)}{shared}; "
        f"unit {record.unit}" + (f". Caution: {codes} (see its summary)" if codes else "")
    )


def _table(records: list[Record], heads: list[str], terms: dict[str, str], exponentiate: bool) -> Table:
    """Return two lines for each term that one of the fits has, as the first spells it, then facts."""
    rows: list[tuple[str, ...]] = []
    for plain, term in terms.items():
        cells = [_cells(record, plain, exponentiate) for record in records]
        if any(first for first, _ in cells):
            rows += zip((term, ""), *cells, strict=True)
    rows += [(label, *values) for label, values in _facts(records)]
    return Table((Column("", "l"), *map(Column, heads)), tuple(rows))


def _plain(term: str) -> str:
    """One name of a function that formulas know under two, as ``log1p(x)`` and ``np.log1p(x)``."""
    return re.sub(r"(?<![\w.])np\.(?=\w+\()", "", term)


def _cells(record: Record, term: str, exponentiate: bool) -> tuple[str, str]:
    names = [*map(_plain, record.names)]
    if term not in names:
        return "", ""
    j = names.index(term)
    se = float(bse(record)[j])
    if math.isinf(se):
        return NOT_ESTIMABLE, ""
    value = np.exp(record.params[j]) if exponentiate else record.params[j]
    return figures(float(value)), f"({figures(se)})"


def _family(record: Record) -> str:
    """Return the name of a law; an alpha that was estimated is none of its name."""
    return record.dist if record.excess is None else record.dist.partition("(")[0]


def _likelihood(record: Record, name: str) -> str:
    found = criterion(record, name)
    return f"{found.estimate:.0f} ({figures(found.std_error)})"


def _facts(records: list[Record]) -> list[tuple[str, list[str]]]:
    spent = [record.budget.to_dict() for record in records]
    shares = [pd.Series(privacy_share(record)).median() for record in records]
    return [
        ("Model", [record.model for record in records]),
        ("Family", [_family(record) for record in records]),
        ("Rows", ["not public" if record.nobs is None else str(record.nobs) for record in records]),
        *(
            (label, ["" if each.loglik is None else _likelihood(each, name) for each in records])
            for label, name in (("Loglik", "llf"), ("AIC", "aic"))
            if any(each.loglik is not None for each in records)
        ),
        ("privacy", [percent(share) for share in shares]),
        *(
            (unit, [f"{budget[unit]:g}" if unit in budget else "" for budget in spent])
            for unit in ("epsilon", "delta", "rho", "mu")
            if any(unit in budget for budget in spent)
        ),
    ]

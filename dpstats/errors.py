"""The errors a user can meet, by what has to be corrected.

All of them are raised from public information alone: the formula, the schema, the budget, and the
names of the columns. None is ever raised because of the value in a row (docs/theory/rows.md#errors).
"""


class SpecificationError(ValueError):
    """A mistake in what the user asked for, found before data are read or budget is spent.

    Examples
    --------
    >>> import dpstats as dps
    >>> try:
    ...     dps.approx(0, 1e-6)
    ... except dps.SpecificationError as error:
    ...     print(error)
    epsilon must be positive, from 1e-30 to 1e+30; got 0
    """


class SchemaError(SpecificationError):
    """A variable is declared wrongly, or not at all.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.bounded(10, 1)
    Traceback (most recent call last):
    dpstats.errors.SchemaError: the lower bound 10 is not below the upper bound 1: they are reversed
    """


class FormulaError(SpecificationError):
    """A formula cannot be read, or asks for something that has no public bound.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.ols("y ~ x + z", {"y": [1.0], "x": [2.0]}, dps.Schema(y=dps.bounded(0, 9), x=dps.bounded(0, 9)))
    Traceback (most recent call last):
    dpstats.errors.FormulaError: ...
    """


class BudgetError(SpecificationError):
    """An amount of privacy is impossible, or is spent twice.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.pure(1).mu
    Traceback (most recent call last):
    dpstats.errors.BudgetError: a pure epsilon budget cannot pay for Gaussian noise; use ...
    """


class LedgerError(SpecificationError):
    """A ledger's file is missing, damaged, read-only, or belongs to another data set or total.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.Ledger("absent.ledger")
    Traceback (most recent call last):
    dpstats.errors.LedgerError: ...
    """


class DataError(SpecificationError):
    """A table cannot be opened, or lacks a declared column.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.datasets.load("unknown")
    Traceback (most recent call last):
    dpstats.errors.DataError: there is no data set 'unknown'; choose one of hdfail, ...
    """


class NotReleased(AttributeError):
    """A number that this private result does not contain; the message says what to use instead.

    Examples
    --------
    >>> import dpstats as dps
    >>> fan = dps.datasets.load("fan")
    >>> fit = dps.survreg("Surv(hours, failed) ~ 1", fan.data, fan.schema).fit(dps.gdp(100))
    >>> fit.resid
    Traceback (most recent call last):
    dpstats.errors.NotReleased: ...
    >>> hasattr(fit, "resid")
    False
    """

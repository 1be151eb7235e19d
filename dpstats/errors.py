"""The errors a user can meet, by what has to be corrected.

All of them are raised from public information alone: the formula, the schema, the budget, and the
names of the columns. None is ever raised because of the value in a row (docs/theory/rows.md#errors).
"""


class SpecificationError(ValueError):
    """A mistake in what the user asked for, found before data are read or budget is spent."""


class SchemaError(SpecificationError):
    """A variable is declared wrongly, or not at all."""


class FormulaError(SpecificationError):
    """A formula cannot be read, or asks for something that has no public bound."""


class BudgetError(SpecificationError):
    """An amount of privacy is impossible, or is spent twice."""


class LedgerError(SpecificationError):
    """A ledger's file is missing, damaged, read-only, or belongs to another data set or total."""


class DataError(SpecificationError):
    """A table cannot be opened, or lacks a declared column."""


class NotReleased(AttributeError):
    """A number that this private result does not contain; the message says what to use instead."""

"""Planted faults: exact replacements in the package, each with the tests that must turn red.

``python -m tests.mutants`` plants every one in a copy of the package and prints which test found it.
"""

from tests.mutants import formula_rows, noise, objective, outside, results, statistics
from tests.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant, ...] = (
    *noise.MUTANTS,
    *statistics.MUTANTS,
    *objective.MUTANTS,
    *formula_rows.MUTANTS,
    *results.MUTANTS,
    *outside.MUTANTS,
)

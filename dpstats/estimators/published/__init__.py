"""Algorithms as their papers publish them, made private where they are not: ``compat="paper"``.

They are for reproduction; what is wrong or wasteful in each, and the corrections, are in the theory of the
method: docs/theory/pmt.md, docs/theory/functional.md, docs/theory/objective.md.
"""

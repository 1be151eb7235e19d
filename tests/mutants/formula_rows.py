# ruff: noqa: E501 - the texts that are replaced stand as they are
"""Faults between a table and the block of rows that the curator sums."""

from tests.mutants.mutant import planted

BLOCK = "formula/block.py"

MUTANTS = (
    planted(
        "values above their public bounds are taken as they are",
        "formula/test_soundness.py::test_columns_stay_in_their_bounds_and_rows_in_the_radius",
        (BLOCK, "np.fmin(leaf, variable.bounds[1], out=leaf)", "np.fmin(leaf, variable.bounds[1])"),
    ),
    planted(
        "a missing number is a number",
        "formula/test_wild.py::test_a_thousand_wild_frames_say_nothing",
        (BLOCK, "            ok &= np.isfinite(values)", "            ok &= ~np.isinf(values)"),
    ),
    planted(
        "a level that is not declared counts as the first",
        "formula/test_wild.py::test_a_thousand_wild_frames_say_nothing",
        (BLOCK, "ok &= values >= 0", "ok &= values >= -1"),
    ),
    planted(
        "rows that are not valid keep their covariates",
        "formula/test_wild.py::test_a_thousand_wild_frames_say_nothing",
        (BLOCK, "np.multiply(exog, ok.astype(np.float64)[:, None], out=exog)", "np.multiply(exog, 1.0, out=exog)"),
    ),
    planted(
        "an offset beyond its bounds",
        "formula/test_soundness.py::test_offsets_and_weights_stay_in_their_bounds",
        ("formula/offset.py", "clip_into(self._expression.values(leaves), self.bounds, ok, out)",
         "out[:] = self._expression.values(leaves)"),
    ),
    planted(
        "a weight above 1",
        "formula/test_soundness.py::test_offsets_and_weights_stay_in_their_bounds",
        ("formula/weights.py", "np.divide(out, self.maximum, out=out)", "np.divide(out, 0.5 * self.maximum, out=out)"),
    ),
)

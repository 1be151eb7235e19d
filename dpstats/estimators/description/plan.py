"""How a description shares its budget among its releases."""

from dpstats.estimators.engine.plan import Plan, Stage, alike

ROUNDS = 4  # of which each narrows a window to a thirtieth, or to what its noise can tell
# of the rounds, of counts by cells and between quantiles, of means and squares, and of products
_SHARES = (0.35, 0.12, 0.23, 0.15, 0.15)
LOOKS, FINE, COUNTS, MOMENTS, PRODUCTS = (
    "counts that find the values",
    "counts by fine cells",
    "counts between quantiles, and of levels",
    "means and mean squares",
    "products of two columns",
)


def make_plan(numbers: int, total: float, pure: bool) -> Plan:
    """Shares of a description of so many columns of numbers, beside any others.

    Parameters
    ----------
    numbers : int
    total : float
        Epsilon of a pure budget, else mu.
    pure : bool
    """
    looks, fine, counts, moments, products = _SHARES
    if numbers == 0:
        return Plan(total, pure, {"counts": Stage(1.0, COUNTS)})
    stages = {"looks": Stage(looks, LOOKS, alike(ROUNDS)), "fine": Stage(fine, FINE)}
    if numbers == 1:
        counts = counts + products
    stages |= {"counts": Stage(counts, COUNTS), "moments": Stage(moments, MOMENTS)}
    if numbers > 1:
        stages["products"] = Stage(products, PRODUCTS)
    return Plan(total, pure, stages)

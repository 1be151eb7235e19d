"""Making a plan."""

from __future__ import annotations

from dpstats._arguments import number
from dpstats._private import forgetting
from dpstats.budget import Budget
from dpstats.contributors.plan import Plan
from dpstats.schema import Schema


@forgetting
def plan_contributions(  # noqa: PLR0913 - what a plan is made of; public
    formula: str,
    schema: Schema,
    budget: Budget,
    contributors: int,
    honest: float = 1.0,
    method: str = "statistics",
    compat: str | None = None,
    ball: float = 3.0,
) -> Plan:
    """Plan a fit to which people contribute records that they have made private themselves.

    Parameters
    ----------
    formula : str
        Of a linear model, or of a logistic one with a flag on the left.
    schema : Schema
        What is public about each variable.
    budget : Budget
        What the published model may tell of one contributor: ``zcdp``, ``gdp`` or ``approx``. What one
        message tells whoever sees it is much more, and is printed too.
    contributors : int
        With fewer messages nothing is published. Noise is spread over so many.
    honest : float
        Share of them that add their noise and keep it to themselves, above 0 and at most 1. Smaller shares
        need more noise of each.
    method : {"statistics", "input"}
        Noisy products of all columns, or a noisy row as in the paper, which is less precise.
    compat : {None, "paper"}
        With method "input": the published constants. They have no central guarantee, and none is claimed.
    ball : float
        Of method "input": longest coefficient vector where rows and response are mapped to at most 1.

    Returns
    -------
    Plan
        ``print`` it for its guarantees, the size of a message and the precision to expect; ``save`` it for
        contributors.

    Raises
    ------
    SpecificationError
        Names what does not fit.

    Notes
    -----
    Source: docs/theory/contributions.md. A record is one contributor's; neighbours differ in one contributor.

    Examples
    --------
    >>> import dpstats as dps
    >>> schema = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(0, 1))
    >>> plan = dps.plan_contributions("y ~ x", schema, dps.approx(1, 1e-6), contributors=10_000)
    >>> plan.size, plan.message_bytes
    (6, 96)
    """
    return Plan(
        formula=formula,
        schema=schema,
        budget=budget,
        contributors=contributors,
        honest=number("honest", honest),
        method=method,
        compat=compat,
        ball=number("ball", ball),
    )

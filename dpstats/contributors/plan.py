"""A plan: all that contributors and server agree on, public, checked by both; what it may ask for, and how it
is made.
"""

import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats._arguments import among, number, numbers, shown
from dpstats._private import always_shown, forgetful, forgetting
from dpstats._stored import Stored
from dpstats.budget import Approx, Budget, Gdp, as_budget, delta_of, stated_delta
from dpstats.budget import from_dict as budget_from_dict
from dpstats.contributors.law import MessagePart, honest_count, input_law, local_mu, parts
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.formula import Design, NumericResponse, build_design, told_apart
from dpstats.formula.ball import UnitBall
from dpstats.schema import Schema, as_schema


def asked_parts(plan: "Plan") -> tuple[MessagePart, ...]:
    """The parts of a message that a plan asks for.

    Raises
    ------
    SpecificationError
        If it cannot be planned.
    """
    _check(plan)
    count = honest_count(plan.contributors, plan.honest)
    columns = len(plan.design.names)
    asked = parts(columns, plan.budget, count, plan.method, plan.compat, plan.ball)
    if not all(0 < part.sd < math.inf for part in asked):
        raise SpecificationError(
            f"{plan.contributors} contributors are too few for {columns} columns; plan for more, or use "
            "method='statistics'"
        )
    return asked


def _check(plan: "Plan") -> None:
    """Refuse what cannot be planned; every message says what to change."""
    count, honest = plan.contributors, plan.honest
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 10**12:
        raise SpecificationError(f"contributors must be a whole number from 1, got {shown(count)}")
    if not isinstance(honest, float) or not 0 < honest <= 1 or honest_count(count, honest) < 1:
        raise SpecificationError(
            f"honest must be a share above 0 and at most 1 of {count} contributors, got {shown(honest)}"
        )
    if not among(plan.method, ("statistics", "input")):
        raise SpecificationError(f"method must be 'statistics' or 'input', got {shown(plan.method)}")
    if not among(plan.compat, (None, "paper")) or (plan.compat and plan.method != "input"):
        raise SpecificationError("compat must be None, or 'paper' with method='input'")
    if not isinstance(plan.ball, float) or not 0 < plan.ball < math.inf:
        raise SpecificationError(f"ball must be a positive number, got {shown(plan.ball)}")
    budget = as_budget("budget", plan.budget)
    if budget.pure:
        raise BudgetError("contributors add Gaussian noise, without pure epsilon; give zcdp, gdp or approx")
    if plan.method == "input" and not isinstance(budget, Approx):
        raise BudgetError("method='input' is proved for an (epsilon, delta); give approx(epsilon, delta)")
    if (delta := delta_of(budget)) is not None and delta > 1 / count and not plan.compat:
        raise BudgetError(
            f"delta = {delta:g} must not exceed 1/n = {1 / count:g}, or one contributor in n may leak whole"
        )
    response = plan.design.response  # a formula or schema that is none is refused here
    if plan.schema.privacy_unit.column:
        raise SpecificationError(
            "a contributor sends one record, so a unit of privacy in the schema has no meaning; leave it out"
        )
    if not isinstance(response, NumericResponse):
        raise FormulaError("contributions need a number or a flag left of ~, not a time to failure")


# Two machines may compute the last bits of a number in other ways.
_SAME = 1e-9


@forgetful
@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Stored):
    """What contributors do and what the server expects; :func:`plan_contributions` makes one.

    Parameters
    ----------
    formula, schema
        Of the model; a record is read as rows of private data are.
    budget : Budget
        Central: what the published model may tell of one contributor.
    contributors : int
        With fewer messages nothing is published.
    honest : float
        Share of them whose noise the central guarantee rests on.
    method : {"statistics", "input"}
    compat : {None, "paper"}
    ball : float
        Of the input scheme: longest coefficient vector, in units where rows and response are at most 1.
    sds : tuple of float, optional
        Noise of each part of a message, as written in a file; default: what the budget asks for.

    Raises
    ------
    SpecificationError
        If the parts do not fit together, or the noise is not what the budget asks for.

    Examples
    --------
    >>> import dpstats as dps
    >>> schema = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(0, 1))
    >>> plan = dps.plan_contributions("y ~ x", schema, dps.gdp(1), contributors=1000)
    >>> plan.save("plan.json")
    >>> dps.ContributionPlan.load("plan.json").hash == plan.hash
    True
    """

    _format, _called = "dpstats.contributions/1", "a plan"
    _edited = (
        "the hash of the plan does not fit its content, so that someone changed it, or it is incomplete; "
        "ask for the plan again, and send nothing"
    )
    _unreadable = "holds no plan; Plan.save(path) did not write it"

    formula: str
    schema: Schema
    budget: Budget
    contributors: int
    honest: float
    method: str
    compat: str | None
    ball: float
    sds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        asked = asked_parts(self)
        if isinstance(self.sds, tuple) and not self.sds:
            object.__setattr__(self, "sds", tuple(part.sd for part in asked))
        object.__setattr__(self, "sds", tuple(map(float, numbers("sds", self.sds).ravel())))
        same = len(self.sds) == len(asked) and all(
            math.isclose(sd, part.sd, rel_tol=_SAME) for sd, part in zip(self.sds, asked, strict=True)
        )
        if not same:
            raise SpecificationError(
                "the noise of this plan is not what its budget asks for, so someone changed it; ask for the "
                "plan again, and send nothing"
            )

    @functools.cached_property
    def design(self) -> Design:
        """Columns and bounds."""
        return build_design(self.formula, self.schema)

    @functools.cached_property
    def rows(self) -> UnitBall:
        """The public map of rows into the unit ball."""
        design = self.design
        return UnitBall.of_box(design.bounds, design.has_intercept, design.categories, design.norms)

    @property
    def response(self) -> tuple[float, float]:
        """Public middle and half-width of the response less the offset, which is mapped to [-1, 1]."""
        low, high = np.subtract(self.design.numeric.bounds, self.design.offset_bounds[::-1]).tolist()
        if self.design.has_intercept:
            return (low + high) / 2, (high - low) / 2
        return 0.0, max(abs(low), abs(high))

    @functools.cached_property
    def parts(self) -> tuple[MessagePart, ...]:
        """The entries of a message in order."""
        return tuple(
            MessagePart(part.name, part.size, part.sensitivity, sd)
            for part, sd in zip(asked_parts(self), self.sds, strict=True)
        )

    @property
    def size(self) -> int:
        """Numbers in a message."""
        return sum(part.size for part in self.parts)

    @property
    def message_bytes(self) -> int:
        """Numbers, id and hash of a message."""
        return 8 * self.size + 16 + 32

    @property
    def honest_count(self) -> int:
        """Contributors whose noise the central guarantee rests on."""
        return honest_count(self.contributors, self.honest)

    @property
    def ridge(self) -> float:
        """Of the input scheme: what is added to the curvature."""
        return input_law(len(self.design.names), self.budget, self.honest_count, self.compat, self.ball).ridge

    @property
    def delta(self) -> float:
        """At which epsilons are told."""
        return stated_delta(self.budget)

    @property
    def central(self) -> tuple[float | None, float, float] | None:
        """mu, epsilon and delta of what is published; None where none is claimed.

        There is no mu of the input scheme, whose guarantee is an (epsilon, delta).
        """
        if self.compat:
            return None
        if isinstance(self.budget, Approx):
            mu = self.budget.mu if self.method == "statistics" else None
            return mu, self.budget.epsilon, self.budget.delta
        return self.budget.mu, Gdp(self.budget.mu).to_approx(self.delta).epsilon, self.delta

    @property
    def local(self) -> tuple[float, float, float]:
        """mu, epsilon and delta of one message."""
        mu = local_mu(self.parts)
        return mu, Gdp(mu).to_approx(self.delta).epsilon, self.delta

    @functools.cached_property
    def hash(self) -> str:
        """SHA-256 of the plan, in hexadecimal digits."""
        text = json.dumps(self._content(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def _content(self) -> dict[str, Any]:
        return {
            "format": self._format,
            "formula": self.formula,
            "schema": self.schema.to_dict(),
            "budget": self.budget.to_dict(),
            "contributors": self.contributors,
            "honest": self.honest,
            "method": self.method,
            "compat": self.compat,
            "ball": self.ball,
            "message": [
                {"part": part.name, "numbers": part.size, "noise_sd": part.sd} for part in self.parts
            ],
        }

    def _plain(self) -> dict[str, Any]:
        return self._content() | {"hash": self.hash}

    @classmethod
    def _built(cls, content: Mapping[str, Any]) -> "Plan":
        plain = ("formula", "contributors", "honest", "method", "compat", "ball")
        return cls(
            schema=Schema.from_dict(content["schema"]),
            budget=budget_from_dict(content["budget"]),
            sds=tuple(float(part["noise_sd"]) for part in content["message"]),
            **{name: content[name] for name in plain},
        )

    @property
    def guarantees(self) -> tuple[tuple[str, str], ...]:
        """Whose guarantee, and what it is, in words."""
        central = "none claimed: the published proof does not hold"
        if self.central is not None:
            central = _text(*self.central)
            central += f", if {self.honest_count} contributors keep their noise to themselves"
            central += " and one fit is published"
        return ("Central", central), ("Local", f"{_text(*self.local)}, of one message")

    @always_shown
    def __repr__(self) -> str:
        lines = [
            ("Plan", " ".join(self.formula.split())),
            ("Hash", self.hash),
            ("Method", self.method + (" as published" if self.compat else "")),
            ("Contributors", f"at least {self.contributors}"),
            *self.guarantees,
            ("Message", f"{self.size} numbers, {self.message_bytes} bytes"),
            *(
                ("", f"{part.name}: {part.size} numbers within [-1, 1], noise sd {part.sd:.4g}")
                for part in self.parts
            ),
        ]
        return "\n".join(f"{label:14}{text}" for label, text in lines)


def checked(plan: object) -> Plan:
    """An argument that is a plan.

    Raises
    ------
    SpecificationError
        If it is not.
    """
    if not isinstance(plan, Plan):
        raise SpecificationError("plan must be a Plan; read it with dpstats.contributors.Plan.load(path)")
    return plan


def _text(mu: float | None, epsilon: float, delta: float) -> str:
    return f"epsilon = {epsilon:.6g}, delta = {delta:g}" + ("" if mu is None else f" (mu = {mu:.4g})")


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
    plan = Plan(
        formula=formula,
        schema=as_schema(schema),
        budget=budget,
        contributors=contributors,
        honest=number("honest", honest),
        method=method,
        compat=compat,
        ball=number("ball", ball),
    )
    told_apart(plan.design)
    return plan

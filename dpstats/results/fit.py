"""The result of every model: an immutable record of released numbers, and everything that follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpstats._private import forgetful, forgetting
from dpstats._repr import always_shown
from dpstats.results import io
from dpstats.results.forest import Forest
from dpstats.results.glm import Ratios
from dpstats.results.inference import Inference
from dpstats.results.intervals import refuse_alpha
from dpstats.results.lifeplots import LifePlots
from dpstats.results.loglik import Likelihood
from dpstats.results.maketables import MakeTables
from dpstats.results.margin import Margin
from dpstats.results.marginal import MarginalEffects
from dpstats.results.outside import Outside
from dpstats.results.pairwise import Pairwise
from dpstats.results.prediction import Predictions
from dpstats.results.record import Record
from dpstats.results.ridge import Ridge, at_alpha
from dpstats.results.scatter import Scatter
from dpstats.results.summary import short, summary
from dpstats.results.survival import Survival
from dpstats.results.table import Document


@forgetful
class Fit(
    Inference, Pairwise, Predictions, Outside, MarginalEffects, Scatter, Ratios, Ridge, Margin, Survival,
    Likelihood, Forest, LifePlots, MakeTables,
):  # fmt: skip
    """A private fit.

    It holds names, estimates, covariances and public declarations (see `Record`, whose fields are the
    keywords of the constructor) and no pointer to a model, to data, to noise or to a seed. Everything else is
    computed from these, without further cost in privacy. What is missing on purpose raises `NotReleased`.
    """

    __slots__ = ()

    def summary(self, level: float = 0.95, unpenalised: bool = False) -> Document:
        """Return the full table; ``print`` it, or see it as HTML in a notebook.

        Parameters
        ----------
        level : float
            Confidence level of all intervals.
        unpenalised : bool
            Below the coefficients of a ridge fit, show those without penalty, from the same release.
        """
        refuse_alpha(level)
        return summary(self.record, level, unpenalised)

    def at_alpha(self, alpha: float) -> Fit:
        """Return the fit of a linear model under another ridge penalty, from the same release.

        Nothing more is spent: the budget of the new fit is the one already spent, not another.

        Parameters
        ----------
        alpha : float
            At least 0; 0 gives ordinary least squares.

        Raises
        ------
        NotReleased
            If the fit is not of a linear model.
        """
        return self._of(at_alpha(self.record, alpha))

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write the fit as JSON. The file holds no private value and may be shared.

        Parameters
        ----------
        path : str or Path
            Ends in .json.
            Read it again with ``dpstats.load(path)``.
        overwrite : bool
            Whether to replace a file that exists, which may be another fit that was paid for.

        Raises
        ------
        SpecificationError
            If the file exists and may not be replaced, or cannot be written.
        """
        io.write(self.record, path, overwrite)

    def to_dict(self) -> dict[str, Any]:
        """Return what `save` writes, as plain values."""
        return io.to_dict(self.record)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Fit:
        """Return the fit that `to_dict` described."""
        return cls._of(io.from_dict(content))

    @classmethod
    def _of(cls, record: Record) -> Fit:
        fit = cls.__new__(cls)
        object.__setattr__(fit, "record", record)
        return fit

    def __reduce__(self) -> tuple[Any, ...]:
        return Fit.from_dict, (self.to_dict(),)

    @always_shown
    def __repr__(self) -> str:
        return short(self.record)

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    def _repr_latex_(self) -> str:
        return self.summary().as_latex()


@forgetting
def load(path: str | Path) -> Fit:
    """Read a fit written by `Fit.save`.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    SpecificationError
        If the file is not a saved fit of this or an earlier version of the format.
    """
    return Fit._of(io.read(path))

"""Reading back what was saved, whatever it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpstats._private import forgetting
from dpstats._stored import read_object
from dpstats.results.description import FORMAT as DESCRIPTION
from dpstats.results.description import Description
from dpstats.results.fit import Fit
from dpstats.results.survival_curve import FORMAT as CURVE
from dpstats.results.survival_curve import CurveFit

# by what a file says that it is, whatever the version
_KINDS = {
    written.partition("/")[0]: kind for written, kind in ((CURVE, CurveFit), (DESCRIPTION, Description))
}


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

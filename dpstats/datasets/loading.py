"""Reading a data set that ships with the package."""

from dataclasses import dataclass
from importlib import resources

import pandas as pd

from dpstats._arguments import among, shown
from dpstats._private import forgetting
from dpstats.datasets.catalogue import CATALOGUE
from dpstats.errors import DataError
from dpstats.schema import Schema


@dataclass(frozen=True)
class Dataset:
    """A table with what is public about it.

    Attributes
    ----------
    name : str
    data : pandas.DataFrame
        One row a unit.
    schema : Schema
        Bounds and levels written from domain knowledge, not from `data`.
    description, source, licence : str

    Examples
    --------
    >>> import dpstats as dps
    >>> print(dps.datasets.load("fan"))
    fan: 70 rows, 2 columns
    ...
    """

    name: str
    data: pd.DataFrame
    schema: Schema
    description: str
    source: str
    licence: str

    def __repr__(self) -> str:
        rows, columns = self.data.shape
        return (
            f"{self.name}: {rows} rows, {columns} columns\n{self.description}\n"
            f"Source: {self.source}\nLicence: {self.licence}"
        )


def names() -> tuple[str, ...]:
    """The names that :func:`load` knows.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> import dpstats as dps
    >>> "hdfail" in dps.datasets.names()
    True
    """
    return tuple(CATALOGUE)


@forgetting
def load(name: str) -> Dataset:
    """Load a data set that ships with the package.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If there is no such data set.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> plant.data.shape
    (9568, 5)
    >>> plant.schema["AT"].bounds
    (-10.0, 45.0)
    """
    if not among(name, CATALOGUE):
        raise DataError(f"there is no data set {shown(name)}; choose one of {', '.join(CATALOGUE)}")
    entry = CATALOGUE[name]
    with resources.as_file(resources.files("dpstats.datasets") / "data") as folder:
        data = pd.read_csv(folder / entry.file)
        schema = Schema.load(folder / f"{name}.toml")
    return Dataset(name, data, schema, entry.description, entry.source, entry.licence)

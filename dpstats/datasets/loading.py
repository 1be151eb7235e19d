"""Reading a data set that ships with the package."""

from dataclasses import dataclass
from importlib import resources
from typing import NamedTuple

import pandas as pd

from dpstats._arguments import among, shown
from dpstats._private import forgetting
from dpstats.errors import DataError
from dpstats.schema import Schema


class DataSet(NamedTuple):
    """One line of the catalogue."""

    file: str
    description: str
    source: str
    licence: str


_SURVIVAL = "R package survival, data set '{}'"
_SURVIVAL_TERMS = "LGPL (>= 2), the terms of the R package"
_SMRD = "Meeker & Escobar, Statistical Methods for Reliability Data; R package SMRD, data set '{}'"
_SMRD_TERMS = "GPL (>= 2), the terms of the R package"


def _survival(file: str, name: str, description: str) -> DataSet:
    return DataSet(file, description, _SURVIVAL.format(name), _SURVIVAL_TERMS)


def _smrd(file: str, name: str, description: str) -> DataSet:
    return DataSet(file, description, _SMRD.format(name), _SMRD_TERMS)


CATALOGUE = {
    "hdfail": DataSet(
        "hdfail.csv.gz",
        "52,422 hard drives in one company's machine rooms: power-on time in days, failed or still running, "
        "temperature and three warning flags. The covariates were read near the end of each drive's time.",
        "Backblaze's public drive statistics, as 'hdfail' in the R package frailtySurv 1.3.8",
        "LGPL-2, the terms of the R package",
    ),
    "cmapss_engines": DataSet(
        "cmapss_engines.csv",
        "200 simulated turbofan engines (FD001): cycles observed, failed or not, means of ten sensors over "
        "the first fifteen cycles. 'life' is the true life, known also for the censored engines.",
        "NASA C-MAPSS; Saxena, Goebel, Simon & Eklund (2008), Damage propagation modeling",
        "none stated; NASA's Prognostics Center of Excellence asks to be cited",
    ),
    "cmapss_signals": DataSet(
        "cmapss_signals.csv",
        "131 simulated turbofan engines (FD001) that were seen for at least 150 cycles: sensors 4, 17 and 20 "
        "over the first 150 cycles, as means of fifteen ('s4_15' is of cycles 1 to 15, 's4_150' of 136 to "
        "150), and 'life', for the 37 of the test set the true one. 94 engines are of the training set.",
        "NASA C-MAPSS; Saxena, Goebel, Simon & Eklund (2008), Damage propagation modeling",
        "none stated; NASA's Prognostics Center of Excellence asks to be cited",
    ),
    "wine": DataSet(
        "wine.csv.gz",
        "4,898 white wines of the Vinho Verde: eleven laboratory values, and quality as the median of at "
        "least three tasters on a scale from 0 to 10. The schema's ranges are those of wine law, of the "
        "laboratory and of the scale; 937 rows repeat another.",
        "Cortez, Cerdeira, Almeida, Matos & Reis (2009), Modeling wine preferences by data mining from "
        "physicochemical properties",
        "'public available for research'; the authors ask to be cited",
    ),
    "ccpp": DataSet(
        "ccpp.csv.gz",
        "9,568 hours of a combined cycle power plant at full load: net output PE, air temperature AT, air "
        "pressure AP, humidity RH and exhaust vacuum V. The schema's ranges are those of the weather near "
        "sea level and of a plant built for 480 MW.",
        "Tufekci (2014), Prediction of full load electrical power output of a base load operated combined "
        "cycle power plant using machine learning methods; Kaya, Tufekci & Gurgen (2012)",
        "none stated; the authors ask to be cited",
    ),
    "cps1988": DataSet(
        "cps1988.csv.gz",
        "28,155 men of the US Current Population Survey, March 1988: weekly wage in dollars of 1992, years "
        "of education and of potential experience, where they live and whether they work part time. The "
        "schema's ranges follow from who was asked (ages 18 to 70, more than 50 dollars), and how.",
        "US Census Bureau, as 'CPS1988' in the R package AER",
        "GPL, the terms of the R package; US census data",
    ),
    "adult": DataSet(
        "adult.csv.gz",
        "30,162 adults of the US census: whether income is above 50,000 dollars a year, age, years of "
        "education on a scale of 16, hours of work, sex and marital status. They are the complete rows of "
        "the training table; the other columns are left out.",
        "Kohavi & Becker (1996), Adult, UCI Machine Learning Repository; US Census Bureau, survey of 1994",
        "none stated in the file; UCI asks to be cited",
    ),
    "datacar": DataSet(
        "datacar.csv.gz",
        "67,856 one-year car insurance policies of 2004 and 2005: number of claims, whether there was one, "
        "exposure in years, the car's value and age class, the driver's sex and age class, and the area. "
        "Cost of claims and type of body are left out.",
        "de Jong & Heller (2008), Generalized Linear Models for Insurance Data; 'dataCar' in the R package "
        "insuranceData 1.0",
        "GPL-2, the terms of the R package",
    ),
    "randhie": DataSet(
        "randhie.csv.gz",
        "20,190 person-years of the RAND Health Insurance Experiment: visits to a doctor, the terms of the "
        "insurance that was drawn for the family, and health. Which rows are of one person is not known.",
        "RAND Corporation; Cameron & Trivedi (2005), Microeconometrics, as 'randhie' in statsmodels",
        "public domain",
    ),
    "rotterdam": _survival(
        "rotterdam.csv",
        "rotterdam",
        "2,982 breast cancer patients of the Rotterdam tumour bank: time to recurrence and to death in days.",
    ),
    "lung": _survival(
        "lung.csv",
        "lung",
        "228 patients with advanced lung cancer. Dots in column names became underscores (ph_ecog).",
    ),
    "veteran": _survival(
        "veteran.csv", "veteran", "137 lung cancer patients in a trial of the Veterans' Administration."
    ),
    "capacitor": _survival(
        "capacitor.csv",
        "capacitor",
        "64 glass capacitors in an accelerated life test of temperature and voltage. "
        "The source's empty column 'fail' is left out.",
    ),
    "genfan": _survival("genfan.csv", "genfan", "70 diesel generator fans: running hours, failed or not."),
    "imotor": _survival(
        "imotor.csv", "imotor", "40 motor insulations in an accelerated life test of temperature."
    ),
    "shockabsorber": _smrd(
        "shockabsorber.csv",
        "ShockAbsorber",
        "38 vehicle shock absorbers: distance driven (kilometres, in a column the source calls miles), "
        "failed or not, and in which of two modes.",
    ),
    "fan": _smrd(
        "fan.csv",
        "Fan",
        "70 diesel generator fans: running hours, failed or not; one row a fan (the source counts ties).",
    ),
    "bearingcage": _smrd(
        "bearingcage.csv",
        "BearingCage",
        "1,703 aircraft engine bearing cages, 6 failed; one row a cage (the source counts ties).",
    ),
}


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

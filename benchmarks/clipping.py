"""Real tables as a private model reads them, for fits without privacy beside it."""

import pandas as pd

import dpstats as dps


def clipped(data: pd.DataFrame, schema: dps.Schema) -> pd.DataFrame:
    """Numbers within bounds, flags 1 or 0, levels in their order."""
    columns = {}
    for name, variable in schema.items():
        values = data[name]
        if variable.kind == "levels":
            columns[name] = pd.Categorical(values.astype(str), categories=list(variable.levels))
        elif variable.kind == "flag":
            columns[name] = (values.astype(str) == variable.codes[0]).astype(float)
        else:
            columns[name] = values.clip(*variable.bounds)
    return pd.DataFrame(columns)

"""Tables and files -> blocks of rows, in the terms of the schema. Nothing here knows about noise."""

from dpstats.rows.rows import Rows, open_rows

__all__ = ["Rows", "open_rows"]

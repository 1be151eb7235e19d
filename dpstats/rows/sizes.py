"""How much of a table is read, looked at or kept at a time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Public sizes: larger ones take more memory, smaller ones more time.

    No release depends on them but on `line`, which is a rule of what a record is.

    Attributes
    ----------
    kept : int
        Bytes of coded columns, or of a design, that stay from one pass of a fit to the next, as public sizes
        tell. More is read, or made, at every pass.
    part, chunk : int
        Bytes of a part of a text file, which a worker reads, and of what a thread parses of it at a time, of
        which temporary columns are some times as large.
    line : int
        Bytes of a line in its file, its end among them; a longer one is no record of a table, and weighs
        nothing.
    group_rows : int
        Rows that a part of a Parquet file has at least, where it has more than one row group.
    share_rows : int
        Rows, about, among which the rows of a unit are chosen at a time: 40 bytes each, and some times that
        to sort them.
    spooled : int
        Bytes of such rows before a file is made for them.
    objects : int
        Python objects that are handled at a time, so that temporary ones stay in a core's cache.
    texts, text_bytes : int
        Texts that are handled at a time, as Arrow counts the distinct ones in 32 bits, and their bytes, as
        views of one text may be many times its size.
    """

    kept: int = 2**27
    part: int = 2**26
    chunk: int = 2**22
    line: int = 2**20
    group_rows: int = 2**18
    share_rows: int = 2**17
    spooled: int = 2**22
    objects: int = 2**16
    texts: int = 2**24
    text_bytes: int = 2**30


SIZES = Sizes()

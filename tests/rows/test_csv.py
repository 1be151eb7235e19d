"""Lines of CSV files: which are records, and what their cells are."""

import bz2
import csv
import gzip
import io
import lzma

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpstats as dps
from dpstats.errors import DataError
from dpstats.rows import lines, open_rows
from dpstats.rows.grammar import number
from dpstats.rows.sizes import SIZES
from tests.rows.resized import resize

SCHEMA = dps.Schema(
    x=dps.bounded(0, 9), g=dps.levels("a", 'q"q', "s,t", "ü", other=True), f=dps.flag("yes", "no")
)
NAMES = ["x", "g", "f"]
NAN = np.nan


def read(content, path, **how):
    """x and g of a file with these bytes."""
    path.write_bytes(content)
    rows = open_rows(dps.read_csv(path, **how), SCHEMA, NAMES)
    blocks = list(rows.blocks())
    return tuple([value for block in blocks for value in block[name].tolist()] for name in ("x", "g"))


@pytest.mark.parametrize(
    "content, x, g",
    [
        (b"1,a,yes\n2,b,no\n", [1, 2], [0, 4]),
        (b"1,a,yes\n2,b,no", [1, 2], [0, 4]),  # the last newline makes no record
        (b"1,a,yes\r\n2,b,no\r\n", [1, 2], [0, 4]),
        (b"", [], []),
        (b"\n1,a,yes\n\n\n", [NAN, 1, NAN, NAN], [-1, 0, -1, -1]),  # blank lines are records
        (b"1,a\n1,a,yes,5\n,,\n2,a,no\n", [NAN, NAN, NAN, 2], [-1, -1, -1, 0]),  # too few, too many
        (b'"1","a","yes"\n1,"q""q",no\n1,"s,t",no\n', [1, 1, 1], [0, 1, 2]),
        (
            b'1,"a,yes\n2,a,no\n3,a",no\n',
            [NAN, 2, 3],
            [-1, 0, 4],
        ),  # an open quotation mark ends with its line
        (
            b'1,"a\nb",no\n2,a,no\n',
            [NAN, NAN, 2],
            [-1, -1, 0],
        ),  # a newline between them makes two bad records
        (b'1,"a"b,no\n2,q"q,no\n', [NAN, 2], [-1, 1]),
        (b"1,a\r,no\n1,a\0,no\n2,a,no\n", [NAN, NAN, 2], [-1, -1, 0]),
        (b"1,a\0,no\n2,a,no\n", [NAN, 2], [-1, 0]),
        (b"1,a,no\r1,b,no\n2,a,no\n\r3,a,no\n", [NAN, 2, NAN], [-1, 0, -1]),  # a carriage return ends no line
        (b"1,a,no\n2,b,no\r\n3,a,no\r\r\n", [1, 2, NAN], [0, 4, -1]),
        (b"1,\xff,no\n2,\xc3\xbc,no\n", [NAN, 2], [-1, 3]),
        (b"\xef\xbb\xbf1,a,no\n1,a,no\n", [NAN, 1], [0, 0]),  # a mark of byte order is one in the header only
        (b" 1 , a ,yes\n\t2,a\t,no\n+3,NA,no\n", [1, 2, 3], [0, 0, -1]),
        (b"1,a," + b"y" * SIZES.line + b"\n2,a,no\n", [NAN, 2], [-1, 0]),
        (b"1,a," + b"y" * (SIZES.line - 5) + b"\n2,a,no\n", [1, 2], [0, 0]),
    ],
)
@pytest.mark.parametrize("chunk", [SIZES.chunk, 5])
def test_a_line_is_a_record(content, x, g, chunk, tmp_path, monkeypatch):
    if len(content) < 10_000:
        resize(monkeypatch, chunk=chunk)
    for mark in (b"", b"\xef\xbb\xbf"):
        got = read(mark + b"x,g,f\n" + content, tmp_path / "d.csv")
        np.testing.assert_array_equal(got[0], x)
        assert got[1] == g


def test_a_line_without_an_end_takes_no_memory_and_is_one_bad_record(tmp_path, monkeypatch):
    resize(monkeypatch, chunk=1 << 16)
    endless = b"1,a,no\n" + b"9" * (3 * SIZES.line) + b"\n2,a,no\n" + b"7" * (2 * SIZES.line)
    np.testing.assert_array_equal(read(b"x,g,f\n" + endless, tmp_path / "d.csv")[0], [1, NAN, 2, NAN])


@pytest.mark.parametrize("cell", [b"1", b'"1"', b"+1"])  # read in bulk, in bulk with quoting, by hand
@pytest.mark.parametrize("name, packed", [("d.csv", bytes), ("d.csv.gz", gzip.compress)])
@pytest.mark.parametrize(
    "encoding, letter",
    [
        ("utf-8", "å"),
        ("gb18030", "å"),
        pytest.param("euc_jp", "å", marks=pytest.mark.long),
        ("latin-1", "å"),
        pytest.param("cp874", "ก", marks=pytest.mark.long),
    ],
)
def test_the_length_of_a_line_is_that_in_the_file_wherever_the_line_stands(
    encoding, letter, name, packed, cell, tmp_path, monkeypatch
):
    """Its text may have fewer bytes or more in UTF-8, and only a part of it may be read."""
    resize(monkeypatch, line=40, chunk=64)
    text, start = letter.encode(encoding), cell + b",a,"
    for size in (40, 41, 70, 120):  # with the newline
        whole, rest = divmod(size - len(start) - 1, len(text))
        line = start + text * whole + b"y" * rest + b"\n"
        for before in range(0, 70, 17):
            content = b"x,g,f\n" + b"\n" * before + line + b"2,a,no\n"
            x, _ = read(packed(content), tmp_path / name, encoding=encoding)
            np.testing.assert_array_equal(x[before:], [1 if size <= 40 else NAN, 2])


@pytest.mark.parametrize("other", [b"1,a,no", b'1,"a",no', b"1,a"])  # which decides how the chunk is read
def test_a_field_may_be_long_whatever_stands_beside_its_line(other, tmp_path):
    """The `csv` of Python refuses fields of more than 131,072 letters, or of what the process has set."""
    long = b"1e000,a," + b"y" * 200_000 + b"\n" + b'1e000,a,"' + b"y" * 200_000 + b'"\n'
    assert read(b"x,g,f\n" + other + b"\n" + long, tmp_path / "d.csv")[0][1:] == [1, 1]


@pytest.mark.parametrize("sep", [",", "^", "]", "\\", " ", "-"])
def test_the_fields_of_a_line_are_those_of_the_csv_of_python(sep):
    rng = np.random.default_rng()
    for _ in range(3000):
        line = "".join(rng.choice(['"', sep, "a", " "], rng.integers(12)))
        try:
            expected = next(csv.reader([line], delimiter=sep, strict=True)) or [""]
        except csv.Error:
            with pytest.raises(csv.Error):
                lines.fields(line, sep)
        else:
            assert lines.fields(line, sep) == expected


def test_numbers_too_large_for_a_float_are_missing_in_lines_of_any_length(tmp_path):
    numbers = (b"9" * 400, b"9" * 250 + b"e99", b"1e99", b"9" * 199, b"0." + b"1" * 400)
    lines = [b"%s,a,no" % number for number in numbers]
    x, _ = read(b"x,g,f\n" + b"\n".join(lines) + b"\n", tmp_path / "d.csv")
    np.testing.assert_array_equal(x, [NAN, NAN, 1e99, float("9" * 199), float("0." + "1" * 400)])


@pytest.mark.parametrize("chunk", [SIZES.chunk, 1])  # lines together, each by itself
@pytest.mark.parametrize(
    "sep, mark",
    [",.", ";,", "\t.", " .", *(pytest.param(*two, marks=pytest.mark.long) for two in (".,", "/."))],
)
def test_a_number_is_the_same_in_bulk_as_by_hand(sep, mark, chunk, tmp_path, monkeypatch):
    rng = np.random.default_rng()
    resize(monkeypatch, chunk=chunk)

    def digits(lengths):
        return "".join(map(str, rng.integers(0, 10, rng.choice(lengths))))

    def cell():
        tail = rng.choice(
            [
                "",
                "",
                "",
                "e5",
                "E-7",
                "e+12",
                "e99",
                "e-99",
                "e300",
                "e-400",
                "e999",
                "e",
                " ",
                "\t",
                " 1",
                "N/A",
            ]
        )
        whole = rng.choice(["", "", "-", "+"]) + digits([0, 1, 2, 17, 25])
        word = rng.choice(["inf", "-Infinity", "nan", "-NaN", "nan(1)", "NA", " NA", "NULL", "0x1", "1_0"])
        return word if rng.random() < 0.1 else whole + rng.choice([mark, ""]) + digits([1, 18, 900]) + tail

    cells = [text for text in (cell() for _ in range(3000 if chunk > 1 else 600)) if sep not in text]
    (tmp_path / "d.csv").write_text("".join(f"{text}{sep}1\n" for text in ["x", *cells]))
    rows = open_rows(dps.read_csv(tmp_path / "d.csv", sep=sep, decimal=mark), SCHEMA, ["x"])
    expected = np.array([number(text.encode(), mark) for text in cells])
    np.testing.assert_array_equal(next(rows.blocks(len(cells)))["x"], expected)
    assert 0.1 < np.isnan(expected).mean() < 0.6


@pytest.mark.parametrize("header", [b"x,g,f\n", b'"x","g","f"\r\n', b" x, g ,f\n", b"\xef\xbb\xbfx,g,f\n"])
def test_the_header_names_columns(header, tmp_path):
    assert read(header + b"1,a,no\n", tmp_path / "d.csv") == ([1], [0])


def test_columns_that_nobody_asks_for_may_have_any_name(tmp_path):
    assert read(b',x,"a,b",g,,f,a,a\n0,1,2,a,3,no,4,5\n', tmp_path / "d.csv") == ([1], [0])


def test_hundreds_of_columns_are_read_without_a_pattern_of_the_line(tmp_path):
    more = 600
    header = b"x,g,f," + b",".join(b"c%d" % i for i in range(more))
    lines = b"".join(b"%d,a,no" % (i % 9) + b",1" * (more - i % 2) + b"\n" for i in range(8))
    x, g = read(header + b"\n" + lines, tmp_path / "d.csv")
    np.testing.assert_array_equal(x, [i if i % 2 == 0 else NAN for i in range(8)])
    assert g == [0, -1] * 4


@pytest.mark.parametrize(
    "name, packed",
    [
        ("d.csv", bytes),
        ("d.csv.gz", gzip.compress),
        ("d.csv.zst", lambda content: pa.compress(content, codec="zstd", asbytes=True)),
        ("d.txt", bytes),
        ("d.CSV", bytes),
        ("data", bytes),
    ],
)
def test_compressed_files(name, packed, tmp_path):
    assert read(packed(b"x,g,f\n1,a,no\n2,b,no\n"), tmp_path / name) == ([1, 2], [0, 4])


def test_tabs_semicolons_decimal_commas_and_encodings(tmp_path):
    assert read(b"x\tg\tf\n1\ts,t\tno\n", tmp_path / "d.tsv") == ([1], [2])
    assert read(
        b"x;g;f\n1,5;\xfc;no\n1.5;a;no\n", tmp_path / "d.csv", sep=";", decimal=",", encoding="latin-1"
    )[1] == [3, 0]
    x, _ = read(b"x;g;f\n1,5;a;no\n+1,5;a;no\n1.5;a;no\n", tmp_path / "d.csv", sep=";", decimal=",")
    np.testing.assert_array_equal(x, [1.5, 1.5, NAN])
    x, g = read(
        "x,g,f\n1,ü,no\n2,a,no\n".encode("cp1252") + b"3,\x81,no\n", tmp_path / "d.csv", encoding="cp1252"
    )
    np.testing.assert_array_equal(x, [1, 2, NAN])
    assert g == [3, 0, -1]


@pytest.mark.parametrize("chunk", [1, 10_000])
def test_digits_in_groups(chunk, tmp_path, monkeypatch):
    resize(monkeypatch, chunk=chunk)
    lines = b'x,g,f\n"1,234.5",a,no\n12345,a,no\n"1,23",a,no\n1,234,a,no\n,a,no\n" -7,000",a,no\n"2,000\n'
    x, g = read(lines, tmp_path / "d.csv", thousands=",")
    np.testing.assert_array_equal(x, [1234.5, 12345, NAN, NAN, NAN, -7000, NAN])
    assert g == [0, 0, 0, -1, 0, 0, -1]
    dots = dict(sep=";", decimal=",", thousands=".")
    x, _ = read(b"x;g;f\n1.234,5;a;no\n1234,5;a;no\n1.5;a;no\n", tmp_path / "d.csv", **dots)
    np.testing.assert_array_equal(x, [1234.5, 1234.5, NAN])
    blanks = dict(sep=";", encoding="latin-1", thousands="\u00a0")
    x, _ = read("x;g;f\n1\u00a0234;a;no\n".encode("latin-1"), tmp_path / "d.csv", **blanks)
    np.testing.assert_array_equal(x, [1234])
    assert np.isnan(read(b'x,g,f\n"1,234",a,no\n', tmp_path / "d.csv")[0]).all()


@pytest.mark.parametrize("chunk", [1 << 20, 24])
def test_decimal_commas_in_quotation_marks_of_a_file_with_commas(chunk, tmp_path, monkeypatch):
    """A comma outside them ends a field, so that its line has a field too many and is of no weight."""
    resize(monkeypatch, chunk=chunk)
    lines = (
        b'x,g,f\n"1,5",a,no\n2,a,no\n"3",a,no\n4,5,a,no\n,"-,5",no\n"-6,25e1",a,no\n1.5,a,no\n" 7,",a,no\n'
    )
    x, g = read(lines, tmp_path / "d.csv", decimal=",")
    np.testing.assert_array_equal(x, [1.5, 2, 3, NAN, NAN, -62.5, NAN, 7])
    assert g == [0, 0, 0, -1, 4, 0, 0, 0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "UTF_8_SIG"])
def test_a_mark_of_byte_order_is_skipped_however_utf8_is_called(encoding, tmp_path):
    x, g = read(b"\xef\xbb\xbfx,g,f\n1,a,no\n2,\xe4,no\n", tmp_path / "d.csv", encoding=encoding)
    np.testing.assert_array_equal(x, [1, NAN])
    file = dps.read_csv(tmp_path / "d.csv", encoding=encoding)
    assert file.record(list(file.lines())[1]).startswith("is not written in utf-8;")


@pytest.mark.parametrize(
    "how, words",
    [
        (dict(sep=",,"), "sep must be one ASCII character"),
        (dict(sep='"'), "sep must be"),
        (dict(sep="1"), "sep must be"),
        (dict(sep="\u00a7"), "sep must be"),
        (dict(decimal=";"), "decimal must be '.' or ','"),
        (dict(thousands=";"), "thousands must be ','"),
        (dict(thousands=3), "thousands must be ','"),
        (dict(thousands="."), "decimal and thousands are both '.'"),
        (dict(encoding="utf-16"), "ASCII characters are themselves.*pd.read_csv.*encoding='utf-16'"),
        (dict(encoding="klingon"), "encoding must be"),
        (dict(encoding="cp037"), "encoding must be"),
        (dict(encoding=None), "encoding must be"),
        *(
            (dict(encoding=name), "encoding must be")
            for name in (
                "unicode_escape",
                "raw_unicode_escape",
                "utf-7",
                "iso2022_jp",
                "hz",
                "rot13",
                "hex",
                "punycode",
            )
        ),
    ],
)
def test_how_a_file_is_written_is_checked_at_once(how, words, tmp_path):
    (tmp_path / "d.csv").write_bytes(b"x,g,f\n")
    with pytest.raises(DataError, match=words):
        dps.read_csv(tmp_path / "d.csv", **how)
    with pytest.raises(DataError, match="there is no file"):
        dps.read_csv(tmp_path / "e.csv")
    for several in (tmp_path, tmp_path / "*.csv"):
        with pytest.raises(
            DataError, match=r"takes one file. For those of a folder or a pattern give a list"
        ):
            dps.read_csv(several)


TABLE = b"x,g,f\n" + b"682.3,a,no\n" * 99


def packed_as_parquet():
    out = io.BytesIO()
    parquet.write_table(pa.table({"x": [682.3] * 99}), out)
    return out.getvalue()


BAD_HEADERS = [
    ("d.csv", b"", "it is empty; its first line must name"),
    ("d.csv.gz", gzip.compress(b""), "it is empty"),
    ("d.csv", b"\n" + TABLE, "first line is blank; take out"),
    (
        "d.csv",
        b"sep=;\r\n" + TABLE,
        r"tells Excel what .*; take that line out, .*\(path, sep=';'\)",
    ),
    ("d.csv", b" ,\t\r\n" + TABLE, "line is blank"),
    ("d.csv", TABLE.replace(b"\n", b"\r"), "carriage returns .* save it with the line ends of"),
    ("d.csv", TABLE.replace(b"\n", b"\r\n").replace(b"x", b"x\r"), "carriage returns"),
    ("d.csv", TABLE.decode().encode("utf-16"), "UTF-16 or the like; save it in UTF-8"),
    ("d.csv", TABLE.decode().encode("utf-16-be"), "UTF-16"),
    ("d.csv", TABLE.decode().encode("utf-32"), "UTF-16"),
    ("d.csv", gzip.compress(TABLE), "compressed; let its name end in .gz"),
    ("d.csv.gz", gzip.compress(gzip.compress(TABLE)), "let its name end in .gz"),
    *(("d.csv", bz2.compress(TABLE, level), "by bzip2; unpack it") for level in (1, 9)),
    ("d.csv", lzma.compress(TABLE), "by xz; unpack it"),
    ("d.csv", pa.compress(TABLE, codec="zstd", asbytes=True), "in .zst"),
    ("d.csv", packed_as_parquet(), "a Parquet file; let its name end in .parquet"),
    ("d.csv", b"PK\3\4" + TABLE, "an Excel file; unpack it, or save its sheet as CSV"),
    *(
        (f"d.csv{suffix}", TABLE, f"cannot be unpacked; is it complete.* take {suffix} off its name")
        for suffix in (".gz", ".zst")
    ),
    ("d.csv.gz", gzip.compress(TABLE)[:12], "cannot be unpacked; is it complete"),
    ("d.csv", "Größe,x\n".encode("latin-1") + TABLE, r"not in utf-8; .*\(path, encoding='latin-1'\)"),
    ("d.csv", b'"x,g,f\n' + TABLE, "quotation mark that is not closed"),
    ("d.csv", b"x,yes\0,g\n", "a null character"),
    ("d.csv", b"\xff,x\n", "not in utf-8"),
]


@pytest.mark.parametrize("name, content, words", BAD_HEADERS, ids=range(len(BAD_HEADERS)))
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_file_without_a_header_says_why_and_what_to_do(name, content, words, encoding, tmp_path):
    if encoding == "latin-1" and "not in utf-8" in words:
        return
    words = f"cannot be read as a CSV file with a header of column names: .*{words}"
    with pytest.raises(DataError, match=words) as caught:
        read(content, tmp_path / name, encoding=encoding)
    assert not any(cell in str(caught.value) for cell in ("682", "yes", "Gr"))
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_nothing_but_the_header_is_read_until_a_fit(tmp_path):
    path = tmp_path / "d.csv.gz"
    whole = gzip.compress(b"x,g,f\n" + b"1,a,no\n" * 100_000)
    path.write_bytes(whole[:-50])  # a fit will fail
    model = dps.logit("f ~ x + g", dps.read_csv(path), SCHEMA)
    assert model.design.names
    with pytest.raises(DataError, match="cannot be read to its end: is it complete") as caught:
        model.fit(dps.gdp(1))
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize("suffix", [".bz2", ".xz"])
def test_other_compressions_are_refused(suffix, tmp_path):
    path = tmp_path / f"d.csv{suffix}"
    path.write_bytes(b"packed")
    with pytest.raises(DataError, match="unpack it, or compress it by gzip"):
        dps.logit("f ~ x + g", path, SCHEMA)

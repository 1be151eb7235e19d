"""Whatever arrives, the sum is that of honest messages, and the rest is counted."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpstats import testing
from dpstats.contributions import Totals, total
from dpstats.contributors import Message, Plan, contribute_rows, write_messages
from dpstats.curator.noise import setting
from dpstats.errors import DataError, SpecificationError
from tests.contributors.people import people, plan, seeded

N = 300
PLAN = plan(N)
HONEST = seeded(people(N), PLAN)
SUMS = np.sum([message.values for message in HONEST], axis=0)


@pytest.fixture(autouse=True)
def under_test() -> Iterator[None]:
    with testing.noise(testing.SeededNoise(0)):
        yield


def same(found: Totals, **rejected: int) -> None:
    assert found.n == N and np.allclose(found.sums, SUMS, rtol=1e-12)
    counts = {"malformed": 0, "wrong_plan": 0, "out_of_range": 0, "duplicate": 0}
    assert asdict(found.rejected) == counts | rejected


def test_files_lists_of_files_and_iterators_give_the_same(tmp_path: Path) -> None:
    write_messages(HONEST[:100], tmp_path / "a.parquet")
    write_messages(HONEST[100:], tmp_path / "b.jsonl")
    same(total([tmp_path / "a.parquet", str(tmp_path / "b.jsonl")], PLAN))
    same(total(iter(HONEST), PLAN))
    same(total([message.to_dict() for message in HONEST], PLAN))
    same(total((tmp_path / "a.parquet", tmp_path / "b.jsonl", tmp_path / "a.parquet"), PLAN), duplicate=100)


def parquet_of(path: Path, plans: list[Any], ids: list[Any], values: list[Any], fixed: bool = False) -> None:
    kind = pa.binary(16) if fixed else pa.binary()
    columns = [pa.array(plans, pa.string()), pa.array(ids, kind), pa.array(values, pa.binary())]
    parquet.write_table(pa.table(columns, names=["plan", "id", "values"]), path)


def test_a_hundred_thousand_hostile_messages_change_the_count_and_nothing_else(tmp_path: Path) -> None:
    """Of each kind 12,500, with honest messages among them: the sum is the same to the last digits."""
    draw, each, m, mark = np.random.default_rng(0), 12_500, PLAN.size, HONEST[0].plan
    limit = PLAN.parts[0].limit
    noise = draw.normal(scale=PLAN.sds[0], size=(each, m))

    def with_one(value: float) -> list[bytes]:
        rows = noise.copy()
        rows[np.arange(each), draw.integers(0, m, each)] = value
        return [row.tobytes() for row in rows]

    plain, ids = [row.tobytes() for row in noise], [draw.bytes(16) for _ in range(8 * each)]
    kinds = [
        (mark, with_one(math.nan)),
        (mark, with_one(math.inf)),
        (mark, with_one(-1e308)),
        (mark, with_one(limit * (1 + 1e-9))),
        (mark, [row[:-8] for row in plain]),
        ("0" * 64, plain),
        (None, plain),
        (mark, [row + row for row in plain]),
    ]
    plans = [kind[0] for kind in kinds for _ in range(each)]
    values = [row for kind in kinds for row in kind[1]]
    honest = [(message.plan, message.id, message.values.tobytes()) for message in HONEST]
    rows = list(zip(plans, ids, values, strict=True)) + honest + honest[:50]
    order = draw.permutation(len(rows))
    shuffled = zip(*(rows[i] for i in order), strict=True)
    parquet_of(tmp_path / "all.parquet", *(list(column) for column in shuffled))
    found = total(tmp_path / "all.parquet", PLAN)
    same(found, malformed=3 * each, wrong_plan=each, out_of_range=4 * each, duplicate=50)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_number_out_of_range_is_found_at_either_end(sign: float) -> None:
    """In a batch that is honest but for it."""
    values = HONEST[0].values.copy()
    values[-1] = sign * PLAN.parts[-1].limit * (1 + 1e-9)
    same(total([*HONEST, Message(HONEST[0].plan, bytes(16), values)], PLAN), out_of_range=1)


def test_every_bit_pattern_of_a_number_is_taken_or_left(tmp_path: Path) -> None:
    bits = np.random.default_rng(0).integers(0, 2**64, (5000, PLAN.size), dtype=np.uint64)
    found = total(
        [
            *HONEST,
            *(
                Message(HONEST[0].plan, bytes([7, *i.to_bytes(15)]), row)
                for i, row in enumerate(bits.view(np.float64))
            ),
        ],
        PLAN,
    )
    same(found, out_of_range=5000)


ZEROS = [0.0] * PLAN.size
HOSTILE_LINES = [
    b"",
    b"\n",
    b"null\n",
    b"[]\n",
    b"3\n",
    b"{}\n",
    b"{\n",
    b"\xff\xfe\n",
    b'{"plan": 1}\n',
    b"[" * 100_000 + b"\n",
    b'{"a": "' + b"x" * 1_000_000 + b'"}\n',
    *(
        json.dumps({"plan": HONEST[0].plan, "id": "0" * 32, "values": ZEROS} | more).encode() + b"\n"
        for more in (
            {"id": "0" * 30},
            {"id": "g" * 32},
            {"id": 5},
            {"id": None},
            {"plan": ["x"]},
            {"values": "x"},
            {"values": {"0": 1}},
            {"values": [0.0]},
            {"values": [ZEROS]},
            *({"values": [item] * PLAN.size} for item in (None, "0", 10**400, True)),
        )
    ),
]


def test_lines_that_are_no_messages_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    write_messages(HONEST, path)
    path.write_bytes(b"".join(HOSTILE_LINES) + path.read_bytes())
    same(total(path, PLAN), malformed=len(HOSTILE_LINES) - 2)  # blank lines are none


class Shouted(str):
    """Says that it is whatever it is compared with."""

    def __ne__(self, other: object) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Padded(bytes):
    """Says that it is longer than it is, however it is asked."""

    def __len__(self) -> int:
        return 16

    def __bytes__(self) -> bytes:
        return self


class Hostile:
    plan, id = HONEST[0].plan, b"0" * 16

    @property
    def values(self) -> Any:
        raise KeyError("no")


def test_items_that_are_no_messages_are_counted() -> None:
    bad = [
        None,
        3,
        "text",
        b"",
        [],
        {},
        Hostile(),
        Message(HONEST[0].plan, b"short", HONEST[0].values),
        Message(HONEST[0].plan, b"0" * 16, HONEST[0].values[:-1]),
        Message(HONEST[0].plan, b"0" * 16, HONEST[0].values.astype(complex)),
        Message(HONEST[0].plan, Padded(b"short"), HONEST[0].values),
    ]
    other = Message(Shouted("another plan"), b"0" * 16, HONEST[0].values)
    same(total([*bad, other, *HONEST], PLAN), malformed=len(bad), wrong_plan=1)


def test_a_rejected_message_does_not_use_up_an_id() -> None:
    """Who overhears an id cannot silence its owner with a message that is rejected."""
    stolen = [Message(m.plan, m.id, np.full(PLAN.size, math.inf)) for m in HONEST]
    same(total([*stolen, *HONEST], PLAN), out_of_range=N)


def test_fewer_messages_than_planned_publish_nothing() -> None:
    with pytest.raises(DataError, match=r"299 messages were accepted .* at least 300.*rejected: 2 duplicate"):
        total([*HONEST[1:], *HONEST[1:3]], PLAN)


def test_messages_with_other_noise_are_for_tests_only() -> None:
    with testing.noise(testing.NoNoise()):
        assert total(HONEST, PLAN).not_private
    reset = setting.set(None)
    try:
        with pytest.raises(DataError, match="300 wrong plan"):
            total(HONEST, PLAN)
        three = plan(3)
        secure = list(contribute_rows(people(3), three))
        assert not total(secure, three).not_private
    finally:
        setting.reset(reset)


def test_batches_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for of in (PLAN, plan(N, method="input")):
        messages = seeded(people(N), of)
        whole = total(messages, of)
        monkeypatch.setattr("dpstats.contributions.totals._BATCH_BYTES", 1)
        monkeypatch.setattr("dpstats.contributions.totals._LEAST", 7)
        write_messages(messages, tmp_path / f"{of.method}.parquet")
        for split in (messages, tmp_path / f"{of.method}.parquet"):
            found = total(split, of)
            assert np.allclose(found.sums, whole.sums, rtol=1e-13)
            assert np.allclose(found.gram, whole.gram, rtol=1e-13)
        monkeypatch.undo()


def test_sums_of_the_input_scheme_lose_nothing() -> None:
    of = plan(N, method="input")
    messages = seeded(people(N), of)
    found, d = total(messages, of), len(of.design.names)
    rows = np.array([message.values for message in messages])
    exact = [math.fsum(column) for column in rows.T]
    assert (np.abs(found.sums - exact) <= 12 * 2.0**-53 * np.abs(rows).sum(axis=0)).all()
    assert np.allclose(found.gram, rows[:, :d].T @ rows[:, :d], rtol=1e-13)


@pytest.mark.parametrize(
    ("messages", "message"),
    [(None, "messages must be"), (3, "messages must be"), ({}, "messages must be"), ("m.csv", "no file")],
)
def test_what_cannot_hold_messages_is_refused(messages: Any, message: str) -> None:
    with pytest.raises(SpecificationError, match=message):
        total(messages, PLAN)


def test_files_that_hold_no_messages_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("a\n")
    (tmp_path / "m.parquet").write_text("a\n")
    parquet.write_table(pa.table({"plan": ["a"]}), tmp_path / "other.parquet")
    write_messages(HONEST, tmp_path / "cut.parquet")
    whole = (tmp_path / "cut.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[:2000] + b"\0" * 5000 + whole[7000:])
    errors = {"m.csv": "end in", "m.parquet": "cannot be read", "other.parquet": "holds no"}
    for name, message in errors.items():
        with pytest.raises(DataError, match=message):
            total(tmp_path / name, PLAN)
    with pytest.raises(DataError):  # a page that cannot be read, or too few messages
        total(tmp_path / "cut.parquet", PLAN)


FOREIGN: dict[str, Any] = {
    "views": [pa.string_view(), pa.binary_view(), pa.binary_view()],
    "a view of ids": [pa.string(), pa.binary_view(), pa.binary()],
    "a view of numbers": [pa.string(), pa.binary(16), pa.binary_view()],
    "bytes for a plan": [pa.binary(), pa.binary(), pa.binary()],
    "nothing": [pa.null(), pa.null(), pa.null()],
    "coded ids": [pa.string(), pa.dictionary(pa.int32(), pa.binary()), pa.binary()],
    "lists": [pa.list_(pa.string()), pa.list_(pa.binary()), pa.list_(pa.binary())],
}


@pytest.mark.parametrize("twice", [(), ("plan",), ("id",), ("values",)])
@pytest.mark.parametrize("types", FOREIGN)
def test_a_file_of_other_types_is_counted_and_stops_no_collection(
    types: str, twice: tuple[str, ...], tmp_path: Path
) -> None:
    one = [HONEST[0].plan, b"0" * 16, HONEST[0].values.tobytes()]
    columns = []
    for value, kind in zip(one, FOREIGN[types], strict=True):
        if pa.types.is_binary(kind) and isinstance(value, str):
            value = value.encode()
        nested = [value] if pa.types.is_list(kind) else value
        columns.append(pa.array([None if pa.types.is_null(kind) else nested], kind))
    names = ["plan", "id", "values"]
    columns += [columns[names.index(name)] for name in twice]
    parquet.write_table(pa.Table.from_arrays(columns, names=[*names, *twice]), tmp_path / "m.parquet")
    write_messages(HONEST, tmp_path / "good.parquet")
    same(total([tmp_path / "m.parquet", tmp_path / "good.parquet"], PLAN), malformed=1)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_plans_may_be_stored_in_several_ways(kind: Any, tmp_path: Path) -> None:
    columns = [pa.array([message.plan for message in HONEST]).cast(kind)]
    columns += [pa.array([message.id for message in HONEST], pa.binary(16))]
    columns += [pa.array([message.values.tobytes() for message in HONEST], pa.large_binary())]
    parquet.write_table(pa.Table.from_arrays(columns, names=["plan", "id", "values"]), tmp_path / "m.parquet")
    same(total(tmp_path / "m.parquet", PLAN))


def test_columns_of_other_types_are_malformed(tmp_path: Path) -> None:
    plans: Plan = PLAN
    table = pa.table({"plan": [1, 2], "id": ["a", "b"], "values": [[1.0], [2.0]]})
    parquet.write_table(table, tmp_path / "m.parquet")
    with pytest.raises(DataError, match="2 malformed"):
        total(tmp_path / "m.parquet", plans)

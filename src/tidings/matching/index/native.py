"""A segment for compiled code: kernels find its arrays by address.

Unboxing the arrays of a segment takes numba longer than matching an event. So their addresses and shapes are written
once into a table of integers, and `match_row`, which gets only this table, turns them back into arrays. The owner of
the table keeps the arrays alive."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import inlined, kernel
from tidings.matching.boxes.choices import Choices, no_choices
from tidings.matching.boxes.dimension import UNBOUND
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.index.bitmaps import Bitmaps
from tidings.matching.index.index import Index
from tidings.matching.index.kernel import ASKED, OPEN_MATCHES, find_matches, tidy

ORDINAL, NUMBER, LISTED_NUMBER, TIME, LISTED_TIME = range(5)  # what an entry of the row holds
NO_TIME = np.iinfo(np.int64).min  # instead of an instant: the event has none
_NO_BLOCKS = np.iinfo(np.int64).max  # a single event leaves no cluster to `blocks.py`
OPEN, BATCH = -1, -2
MOST_ASKED = 5  # second looks that Python gives: some 0.05 ms each; a batch of one takes 1 to 3 ms
_ENTRY = 3  # integers per array: address, rows, columns
_TABLES = (  # of two dimensions
    "residuals", "linear", "constants", "least", "greatest", "set_starts", "set_stops", "relations", "pair_numbers",
    "pair_instants", "text_starts", "text_stops",
)  # fmt: skip
_WRITTEN = (  # of an event
    "least", "greatest", "set_starts", "set_stops", "sets", "relations", "pair_numbers", "pair_instants",
    "text_starts", "text_stops", "texts", "entry_offsets", "entry_terms", "place_offsets", "places",
)  # fmt: skip

Integers = npt.NDArray[np.int64]


class Row(NamedTuple):
    """One event before its values are searched, and room for the answer."""

    numbers: npt.NDArray[np.float64]  # by dimension; NaN if there is none
    integers: npt.NDArray[np.int64]  # the same memory: ordinals and instants
    holds: npt.NDArray[np.int8]
    accumulator: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    out: npt.NDArray[np.int32]
    no_stamp: npt.NDArray[np.int32]  # `keep_allowed` handles spans and repeated numbers
    no_spans: npt.NDArray[np.int64]
    no_marks: npt.NDArray[np.uint8]


class Numbers(NamedTuple):
    """The cuts of a dimension of numbers."""

    keys: npt.NDArray[np.float64]


class Times(NamedTuple):
    """The cuts of a dimension of instants."""

    keys: npt.NDArray[np.int64]


class _Field(NamedTuple):
    name: str
    dtype: np.dtype[Any]
    dimensions: int
    written: bool


def _fields(kind: Any, written: Iterable[str], tables: Iterable[str] = _TABLES) -> list[_Field]:
    hints = get_type_hints(kind)
    return [
        _Field(name, np.dtype(get_args(get_args(hints[name])[1])[0]), 2 if name in tables else 1, name in written)
        for name in kind._fields
    ]


_INDEX, _BITMAPS = _fields(Index, ()), _fields(Bitmaps, ())
_EVENTS, _ROW = _fields(EventTable, _WRITTEN), _fields(Row, Row._fields)
# Nobody writes to these. But as arrays of the same type as a batch has, they share its compiled `find_matches`.
_CHOICES = _fields(
    Choices, Choices._fields, [name for name, array in no_choices(0, 0)._asdict().items() if array.ndim == 2]
)
# Where each part of a table begins; the last part is each dimension's keys.
_AT_BITMAPS = len(_INDEX)
_AT_EVENTS = _AT_BITMAPS + len(_BITMAPS)
_AT_CHOICES = _AT_EVENTS + len(_EVENTS)
_AT_ROW = _AT_CHOICES + len(_CHOICES)
_AT_KEYS = _AT_ROW + len(_ROW)


def address_table(
    index: Index, bitmaps: Bitmaps, events: EventTable, choices: Choices, row: Row, keys: list[Any]
) -> Integers:
    """Where the arrays are. `keys` has one entry per dimension, None if its values are looked up elsewhere."""
    table = np.zeros(_ENTRY * (_AT_KEYS + len(keys)), np.int64)
    fields = [*_INDEX, *_BITMAPS, *_EVENTS, *_CHOICES, *_ROW]
    arrays: list[Any] = [*index, *bitmaps, *events, *choices, *row]
    for place, (field, array) in enumerate(zip(fields, arrays, strict=True)):
        alike = (array.dtype, array.ndim) == (field.dtype, field.dimensions) and array.flags.c_contiguous
        assert alike, f"kernels read {field.name} as {field.dtype} of {field.dimensions} dimensions"
        _write(table, place, array)
    for place, array in enumerate(keys, _AT_KEYS):
        if array is not None:
            _write(table, place, array)
    return table


def replace(table: Integers, part: Any, **arrays: Any) -> Any:
    """The same part of a table, `EventTable` or `Row`, with other arrays."""
    first = _AT_ROW if isinstance(part, Row) else _AT_EVENTS
    for name, array in arrays.items():
        _write(table, first + part._fields.index(name), array)
    return part._replace(**arrays)


def _write(table: Integers, place: int, array: Any) -> None:
    columns = array.shape[1] if array.ndim == 2 else 1
    table[_ENTRY * place : _ENTRY * place + _ENTRY] = array.ctypes.data, len(array), columns


def _reader(kind: Any, fields: list[_Field]) -> Callable[..., Any]:
    """A function for kernels: `read(table, place)` returns the named tuple of arrays stored at this index of a
    table."""
    # Imported here, after `compiled` has set the location of numba's cache.
    types, cgutils = import_module("numba.core.types"), import_module("numba.core.cgutils")
    arrayobj, numpy_support = import_module("numba.np.arrayobj"), import_module("numba.np.numpy_support")
    if import_module("numba").config.DISABLE_JIT:
        return lambda table, first: kind(*(_array_at(table, first + i, field) for i, field in enumerate(fields)))
    arrays = [
        types.Array(numpy_support.from_dtype(field.dtype), field.dimensions, "C", readonly=not field.written)
        for field in fields
    ]
    result = types.NamedTuple(arrays, kind)

    @import_module("numba.extending").intrinsic  # type: ignore[untyped-decorator]
    def read(_typing: Any, table: Any, _first: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])
            begin = builder.mul(arguments[1], context.get_constant(types.intp, _ENTRY))
            made = []
            for place, type_ in enumerate(arrays):
                entry = [context.get_constant(types.intp, _ENTRY * place + i) for i in range(_ENTRY)]
                address, *lengths = (builder.load(builder.gep(source.data, [builder.add(begin, one)])) for one in entry)
                array = arrayobj.make_array(type_)(context, builder)
                size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(type_.dtype)))
                shape = lengths[: type_.ndim]
                strides = [size] if type_.ndim == 1 else [builder.mul(lengths[1], size), size]
                arrayobj.populate_array(
                    array,
                    data=builder.inttoptr(address, array.data.type),
                    shape=cgutils.pack_array(builder, shape),
                    strides=cgutils.pack_array(builder, strides),
                    itemsize=size,
                    meminfo=None,
                )
                made.append(array._getvalue())
            return context.make_tuple(builder, result, made)

        return result(table, types.intp), generate

    made: Callable[..., Any] = read
    return made


def _array_at(table: Integers, place: int, field: _Field) -> Any:
    """The uncompiled equivalent of a compiled reader."""
    address, rows, columns = table[_ENTRY * place : _ENTRY * place + _ENTRY].tolist()
    shape = (rows,) if field.dimensions == 1 else (rows, columns)
    size = rows * columns * field.dtype.itemsize
    if not size:
        return np.zeros(shape, field.dtype)
    return np.frombuffer((ctypes.c_char * size).from_address(address), field.dtype).reshape(shape)


index_at, bitmaps_at = _reader(Index, _INDEX), _reader(Bitmaps, _BITMAPS)
events_at, row_at = _reader(EventTable, _EVENTS), _reader(Row, _ROW)
choices_at = _reader(Choices, _CHOICES)
numbers_at, times_at = _reader(Numbers, _fields(Numbers, ())), _reader(Times, _fields(Times, ()))


@kernel
def match_row(table: Any, most_combinations: Any) -> Any:
    """Searches the row's values and matches it. Returns how many numbers were written to `out`, which has room for
    every box; OPEN if Python must verify some, BATCH if many need a second look."""
    events, row = events_at(table, _AT_EVENTS), row_at(table, _AT_ROW)
    holds, least, greatest = row.holds, events.least, events.greatest
    for d in range(len(holds)):
        start, stop = events.set_starts[0, d], events.set_stops[0, d]
        if stop > start:  # several ordinals, ascending
            least[0, d], greatest[0, d] = events.sets[start], events.sets[stop - 1]
            continue
        ordinal = np.int64(UNBOUND)
        if holds[d] == ORDINAL:
            ordinal = row.integers[d]
        elif holds[d] == NUMBER or holds[d] == LISTED_NUMBER:
            if not np.isnan(row.numbers[d]):
                keys = numbers_at(table, _AT_KEYS + d).keys
                ordinal = ordinal_of(keys, row.numbers[d], holds[d] == LISTED_NUMBER)
        elif row.integers[d] != NO_TIME:
            instants = times_at(table, _AT_KEYS + d).keys
            ordinal = ordinal_of(instants, row.integers[d], holds[d] == LISTED_TIME)
        least[0, d] = greatest[0, d] = ordinal
    row.counts[:] = 0
    find_matches(
        index_at(table, 0), bitmaps_at(table, _AT_BITMAPS), events,
        choices_at(table, _AT_CHOICES), np.int64(0), np.int64(1), row.no_stamp, row.no_spans, row.no_spans,
        row.no_marks, np.int64(_NO_BLOCKS), most_combinations, row.accumulator, row.counts, row.offsets, row.out,
    )  # fmt: skip
    if row.counts[ASKED] > MOST_ASKED:
        return BATCH
    return row.offsets[1] if row.counts[OPEN_MATCHES] == 0 else OPEN


@inlined
def ordinal_of(keys: Any, value: Any, listed: Any) -> Any:
    """The number of keys not above the value; for listed keys, 0 for an unlisted value."""
    first, last = np.int64(0), np.int64(len(keys))
    while first < last:
        middle = (first + last) >> 1
        if keys[middle] <= value:
            first = middle + 1
        else:
            last = middle
    if listed and (first == 0 or keys[first - 1] != value):
        return np.int64(0)
    return first


@kernel
def keep_allowed(
    out: Any, found: Any, position: Any, span_start: Any, span_stop: Any, closed: Any, stamp: Any, mark: Any
) -> Any:
    """Keeps those of the first `found` numbers whose span contains the position, each once; `mark` must differ between
    calls."""
    return tidy(mark - 1, 0, found, position, span_start, span_stop, closed, stamp, out)

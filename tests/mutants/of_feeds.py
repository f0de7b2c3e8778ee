"""Mutants of feeds: what a trial with data that nobody had seen found wrong, put back. Each old text is one line or less."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_F = "tests/feeds/"
_PROMISES = (f"{_F}test_promises.py", f"{_F}test_infer.py::test_a_hierarchy_grows_below_its_parents")
_VALUES = (
    f"{_F}test_conversion.py::test_no_numbers",
    f"{_F}test_bad_values.py::test_a_bad_value_of_an_optional_attribute_is_left_out",
    f"{_F}test_bad_values.py::test_every_fault_of_a_dirty_file_is_counted_under_its_name",
    f"{_F}test_nested.py",
)
_WHOLE = (f"{_F}test_whole_source.py",)
_RECORDS = (f"{_F}test_records.py",)
_LETTERS = (
    f"{_F}test_dead_letters.py::test_the_oldest_give_way_and_a_damaged_file_is_told",
    f"{_F}test_dead_letters.py::test_however_much_is_refused_what_is_remembered_of_it_is_bounded",
)

_FAULTS = (
    ("a name under two parents is one", "event_maker.py", "values = tuple(value if value == above else below(above, str(value)) for value in values)", "values = tuple(values)", _PROMISES),
    ("attributes of XML are dropped", "inference/element_shape.py", 'yield from (f"@{name}" for name in _attributes(record))', "yield from ()", _PROMISES),
    ("nested elements are merged", "inference/element_shape.py", 'way = f"{ways[parent]} {name}" if ways[parent] else f"> {name}"', "way = name", _PROMISES),
    ("what is an object in other records is a value", "inference/json_shape.py", "if steps in above and not holds:", "if False:", _PROMISES),
    ("lists of categories are no paths", "event_maker.py", "if path is True:", "if False:", _PROMISES),
    ("paths that find nothing are not told", "inference/checking.py", "found.empty = empty.told(str(mapping.origin))", "found.empty = []", _PROMISES),
    ("a tree is created that nothing fills", "inference/schema_changes.py", "raise NoValues(domain.name)", "pass", _PROMISES),
    ("a preview of events of any size", "preview.py", "if size > _LARGEST:", "if False:", _PROMISES),
    ("a preview of events of any time", "preview.py", 'or made.raw.get("time", "")[:_SECOND] >= self._farthest:', "or False:", _PROMISES),
    ("a number in a sentence", "records/numbers.py", "elif not known or (front and back):", "elif False:", _VALUES),
    ("another currency", "records/numbers.py", "if (front + back).lower() not in _pinned(units) - {NO_UNIT}:", "if False:", _VALUES),
    ("one bad value refuses the event", "event_maker.py", "(self.errors if refuses else self.left_out).append(rule)", "self.errors.append(rule)", _VALUES),
    ("bids without their auction", "records/records.py", "around = {path: _values(way.values(one)) for path, way in outer}", "around = {path: () for path, way in outer}", _VALUES),
    ("inference guesses once", "inference/infer.py", "for _ in range(_ROUNDS if count > size else 0):", "for _ in range(0):", _WHOLE),
    ("inference does not try its mapping on the records", "inference/checking.py", "one = preview.of(record)", 'one = {"event": preview.of(record)["event"]}', _WHOLE),
    ("a damaged line ends its file", "records/json_values.py", "if len(made) > 1 and 2 * wrong <= len(made):", "if len(made) > 1 and not wrong:", _RECORDS),
    ("a byte that is no text ends its file", "sources/content.py", "return damaged * MOST_DAMAGED <= lines", "return not damaged", _RECORDS),
    ("letters of any size", "memory/dead_letters.py", "while len(self.letters) > MOST or self._bytes > MOST_BYTES:", "while len(self.letters) > MOST:", _LETTERS),
    ("places of letters are kept for ever", "memory/dead_letters.py", "                del self._places[_at(letter)]", "                pass", _LETTERS),
)  # fmt: skip

OF_FEEDS = tuple(Mutant(name, f"feeds/{file}", old, new, tests) for name, file, old, new, tests in _FAULTS)

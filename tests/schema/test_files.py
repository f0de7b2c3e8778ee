from __future__ import annotations

import json
import os

import pytest

from tests.schema.samples import LE_SUBSCRIBE, THESIS
from tidings.errors import SchemaError
from tidings.schema import Catalog, Domain, Kind
from tidings.schema.files import SchemaFile, UnknownForm, dump, read_catalog, write_catalog


@pytest.mark.parametrize("name", ["schema.json", "schema.xml", "SCHEMA.XML", "schema.v2.JSON"])
@pytest.mark.parametrize("catalog", [THESIS, LE_SUBSCRIBE], ids=["thesis 3.1", "Le Subscribe 2.1"])
def test_a_catalog_survives_a_file(tmp_path, name, catalog):
    write_catalog(catalog, tmp_path / name)
    assert read_catalog(str(tmp_path / name)) == (catalog, ())


@pytest.mark.parametrize("form", ["json", "xml"])
@pytest.mark.parametrize("before", [b"", b" \r\n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize("name", ["schema", "schema.txt"])
def test_without_a_telling_suffix_the_first_character_tells(tmp_path, form, before, name):
    text = dump(THESIS, form).removeprefix('<?xml version="1.0" encoding="UTF-8"?>\n')
    (tmp_path / name).write_bytes(before + text.encode())
    assert read_catalog(tmp_path / name) == (THESIS, ())


def test_a_byte_order_mark_is_tolerated(tmp_path):
    for form in ("json", "xml"):
        path = tmp_path / f"schema.{form}"
        path.write_bytes(b"\xef\xbb\xbf" + dump(THESIS, form).encode())
        assert read_catalog(path)[0] == THESIS


def test_the_notes_come_along(tmp_path):
    path = tmp_path / "schema.xml"
    path.write_text("<IESCHEMA><ET><VALUE>car</VALUE></ET></IESCHEMA>")
    assert read_catalog(path)[1] == ("line 1: event type 'car' has no <E_TYPE>; it was taken to have no attributes",)


def test_dump_is_readable_text():
    catalog = Catalog((Domain("χρώμα", Kind.ENUMERATED, values=("λευκό",)),), version=3)
    assert json.loads(dump(catalog, "json"))["version"] == 3
    for form in ("json", "xml"):
        assert "λευκό" in dump(catalog, form)
        assert dump(catalog, form).endswith("\n")
    with pytest.raises(UnknownForm, match="no schema form 'jsn'; did you mean 'json'\\?"):
        dump(catalog, "jsn")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"{", "a.json: line 1, column 2: not JSON"),
        ("a.json", b"<IESCHEMA/>", "a.json: line 1, column 1: not JSON"),
        ("a.json", b'{"\xff"}', "a.json: byte 2: not UTF-8 text"),
        ("a.xml", b"<IESCHEMA>", "a.xml: line 1, column 11: not XML"),
        ("a.xml", b"{}", "a.xml: line 1, column 1: not XML"),
        ("a.txt", b"", "a.txt: neither JSON nor XML: a schema begins with '{' or '<'"),
        ("a", b"price,brand", "a: neither JSON nor XML"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_name(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SchemaFile) as caught:
        read_catalog(tmp_path / name)
    assert message in str(caught.value)
    assert isinstance(caught.value.cause, SchemaError)


def test_each_of_several_problems_names_the_file(tmp_path):
    (tmp_path / "a.json").write_text('{"domains": [7, 8]}')
    with pytest.raises(SchemaFile) as caught:
        read_catalog(tmp_path / "a.json")
    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert all("a.json: domains[" in line for line in lines)


def test_a_file_that_cannot_be_read_or_written_is_an_error_of_the_schema(tmp_path):
    with pytest.raises(SchemaFile, match=r"absent\.json: No such file"):
        read_catalog(tmp_path / "absent.json")
    with pytest.raises(SchemaFile, match="directory"):
        read_catalog(tmp_path)
    with pytest.raises(SchemaFile, match=r"a\.json: No such file"):
        write_catalog(THESIS, tmp_path / "absent" / "a.json")


def test_a_suffix_that_names_no_form_is_refused_before_anything_is_written(tmp_path):
    for name in ("schema.yaml", "schema"):
        with pytest.raises(SchemaFile, match="no schema form"):
            write_catalog(THESIS, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "schema.xml"
    write_catalog(THESIS, path)
    before = path.read_bytes()
    with pytest.raises(SchemaFile, match=r"U\+0007"):
        write_catalog(Catalog((Domain("d", Kind.ENUMERATED, values=("\x07",)),)), path)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(SchemaFile, match=r"schema\.xml: No space left"):
        write_catalog(LE_SUBSCRIBE, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "schema.json", tmp_path / "link.json"
    write_catalog(THESIS, path)
    path.chmod(0o640)
    link.symlink_to(path)
    write_catalog(LE_SUBSCRIBE, link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert read_catalog(path)[0] == LE_SUBSCRIBE

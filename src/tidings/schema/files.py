"""The schema as a file: JSON or the thesis's XML, told apart by the suffix, else by the first character."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tidings.errors import SchemaError, expect
from tidings.schema import json_form, xml_form
from tidings.schema.catalog import Catalog
from tidings.whole_file import whole_file

FORMS = ("json", "xml")


class SchemaFile(SchemaError):
    """A schema file that cannot be read or written; `cause` is what the system said or a SchemaError."""

    path: str
    cause: str | SchemaError

    def problem(self) -> str:
        return "\n".join(f"{self.path}: {line}" for line in str(self.cause).splitlines())


class UnknownForm(SchemaError):
    name: str
    known: tuple[str, ...]
    template = "no schema form {name!r}{hint}"


def read_catalog(path: str | os.PathLike[str]) -> tuple[Catalog, tuple[str, ...]]:
    """The catalog in a file and the notes on what was put right in it; raises SchemaFile."""
    expect(path, (str, os.PathLike), "read_schema", "path", "the path of a schema file")
    path = Path(path)
    try:
        content = path.read_bytes()
        if (_form_by_suffix(path) or _form_by_content(content)) == "xml":
            return xml_form.read(content)
        return json_form.read(content), ()
    except OSError as problem:
        raise SchemaFile(str(path), problem.strerror or str(problem)) from None
    except SchemaError as problem:
        raise SchemaFile(str(path), problem) from None


def write_catalog(catalog: Catalog, path: str | os.PathLike[str]) -> None:
    """Writes the form that the suffix names; raises SchemaFile.

    Whoever reads meanwhile gets the old file or the new one.
    """
    path = Path(path)
    try:
        text = dump(catalog, _form_by_suffix(path) or path.suffix.removeprefix("."))
        with whole_file(path, durable=True) as file:
            file.write(text.encode())
    except OSError as problem:
        raise SchemaFile(str(path), problem.strerror or str(problem)) from None
    except SchemaError as problem:
        raise SchemaFile(str(path), problem) from None


def dump(catalog: Catalog, form: str) -> str:
    """The text of a file in this form, 'json' or 'xml'; raises SchemaError."""
    match form:
        case "json":
            return json.dumps(json_form.write(catalog), ensure_ascii=False, indent=2) + "\n"
        case "xml":
            return xml_form.write(catalog)
        case _:
            raise UnknownForm(form, FORMS)


def _form_by_suffix(path: Path) -> str | None:
    form = path.suffix.removeprefix(".").lower()
    return form if form in FORMS else None


def _form_by_content(content: bytes) -> str:
    start = content[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start not in (b"<", b"{"):
        raise json_form.SchemaForm("", "neither JSON nor XML: a schema begins with '{' or '<'")
    return "xml" if start == b"<" else "json"

"""The schema as a file: JSON or the thesis's XML, told apart by the suffix, else by the first character."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tidings.errors import SchemaError, expect, suggestion
from tidings.schema import json_form, xml_form
from tidings.schema.catalog import Catalog
from tidings.whole_file import whole_file

FORMS = ("json", "xml")


class SchemaFile(SchemaError):
    """Something is wrong with a schema's file: its path, and what the system said or a SchemaError."""

    def __init__(self, path: str, problem: str | SchemaError) -> None:
        super().__init__(path, problem)

    @property
    def problem(self) -> str | SchemaError:
        problem: str | SchemaError = self.args[1]
        return problem

    def __str__(self) -> str:
        return "\n".join(f"{self.args[0]}: {line}" for line in str(self.problem).splitlines())


class UnknownForm(SchemaError):
    def __init__(self, form: str) -> None:
        super().__init__(form)

    def __str__(self) -> str:
        return f"no form {self.args[0]!r} of a schema{suggestion(self.args[0], FORMS)}"


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
            raise UnknownForm(form)


def _form_by_suffix(path: Path) -> str | None:
    form = path.suffix.removeprefix(".").lower()
    return form if form in FORMS else None


def _form_by_content(content: bytes) -> str:
    start = content[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start not in (b"<", b"{"):
        raise json_form.SchemaForm("", "neither JSON nor XML: a schema begins with '{' or '<'")
    return "xml" if start == b"<" else "json"

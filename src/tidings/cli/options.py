"""Options that several commands share, and how they are read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tidings.cli.terminal import note
from tidings.schema.catalog import Catalog
from tidings.schema.files import read_catalog
from tidings.settings import Settings

ExistingFile: dict[str, Any] = {"exists": True, "dir_okay": False, "readable": True}
Form = Literal["jsonl", "csv", "parquet", "xml"]

_DEFAULT = Settings()
Host = Annotated[str | None, typer.Option(metavar="ADDRESS", help=f"Where to listen; {_DEFAULT.host} unless set.")]
Port = Annotated[int | None, typer.Option(metavar="PORT", help=f"For HTTP; {_DEFAULT.port} unless set.")]
XmlPort = Annotated[int | None, typer.Option(metavar="PORT", help=f"For XML over TCP; {_DEFAULT.xml_port} unless set.")]

SchemaFile = Annotated[
    Path, typer.Option(metavar="FILE", help="The schema, JSON or XML.", show_default=False, **ExistingFile)
]

Dialect = Annotated[
    str, typer.Option(metavar="NAME", help="The language of the filter: tidings, cesql or cloudevents.")
]

ValuesPerAttribute = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        envvar="TIDINGS_VALUES_PER_ATTRIBUTE",
        help="At most this many values per attribute in one event.",
    ),
]


def writable(path: Path | None) -> Path | None:
    """Refuses, before any work is done, a place where no file can be written."""
    if path is None:
        return None
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a directory; name a file in it.")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"no directory {path.parent}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise typer.BadParameter(f"{path} cannot be written.")
    return path


def existing_file(text: str) -> Path | None:
    """The file of this name; None where the text is something else."""
    try:
        path = Path(text)
        return path if path.is_file() else None
    except (OSError, ValueError):  # too long for a name, or no name at all
        return None


def load_catalog(path: Path) -> Catalog:
    """The catalog of a file; reports assumptions."""
    catalog, notes = read_catalog(path)
    for remark in notes:
        note(f"{path.name}: {remark}")
    return catalog

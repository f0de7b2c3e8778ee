"""Options that several commands share, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tidings.cli.terminal import note
from tidings.schema.catalog import Catalog
from tidings.schema.files import read_catalog

ExistingFile: dict[str, Any] = {"exists": True, "dir_okay": False, "readable": True}

SchemaFile = Annotated[
    Path, typer.Option(metavar="FILE", help="The schema, JSON or XML.", show_default=False, **ExistingFile)
]


def load_catalog(path: Path) -> Catalog:
    """The catalog of a file; what had to be assumed is told."""
    catalog, notes = read_catalog(path)
    for remark in notes:
        note(f"{path.name}: {remark}")
    return catalog

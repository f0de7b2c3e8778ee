"""`tidings schema`: check, show, convert and grow the shared vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from tidings.cli.files.schema_tables import domain_tree, event_types_table, size_of
from tidings.cli.options import ExistingFile, existing_file, load_catalog, writable
from tidings.cli.server.server import InsteadServer, Token, connected, instead
from tidings.cli.terminal import messages, output, plain_errors, written_whole
from tidings.errors import SchemaError, shown
from tidings.schema import json_form
from tidings.schema.catalog import Catalog
from tidings.schema.documents.compiling import check_compiles
from tidings.schema.files import FORMS, dump
from tidings.schema.growth import Change, CreateDomain, SetStatistics, changes_to_make
from tidings.schema.growth import grow as grown
from tidings.schema.json_form import SchemaForm

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Check, show, convert and grow a schema.")


SchemaArgument = Annotated[
    Path, typer.Argument(metavar="SCHEMA", help="JSON or XML.", show_default=False, **ExistingFile)
]


@app.command()
def check(schema: SchemaArgument) -> None:
    """Check a schema and list all errors.

    Example: tidings schema check schema.json
    """
    with plain_errors():
        catalog = load_catalog(schema)
        for domain in catalog.domains:
            if domain.document.grammar is not None:
                check_compiles(domain.document.grammar)
    messages.print(f"{schema.name} is a valid schema: {size_of(catalog)}", markup=False)


@app.command()
def show(
    schema: Annotated[
        Path | None, typer.Argument(metavar="SCHEMA", help="JSON or XML.", show_default=False, **ExistingFile)
    ] = None,
    server: InsteadServer = "",
    token: Token = "",
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show event types, attributes and domains.

    Example: tidings schema show schema.json
    """
    address = instead(server, schema)
    if schema is None and not address:
        raise typer.BadParameter("name a file, or a server with --server URL.", param_hint="'SCHEMA'")
    with connected(address, token) if schema is None else plain_errors() as client:
        catalog = client.schema() if client is not None else load_catalog(cast(Path, schema))
        if as_json:
            output.print_json(data=json_form.write(catalog))
            return
        output.print(f"schema version {catalog.version}: {size_of(catalog)}")
        output.print(event_types_table(catalog))
        for domain in catalog.domains:
            output.print(domain_tree(domain))


def _form(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


def _target(path: Path) -> Path:
    if _form(path) not in FORMS:
        raise typer.BadParameter(f"{path} ends in neither .json nor .xml.")
    writable(path)
    return path


@app.command()
def convert(
    schema: SchemaArgument,
    target: Annotated[
        Path,
        typer.Argument(metavar="TARGET", callback=_target, help="Ends in .json or .xml.", show_default=False),
    ],
) -> None:
    """Convert between the JSON and the XML form, by the target's file extension.

    Example: tidings schema convert ieschema.xml schema.json
    """
    with plain_errors():
        text = dump(load_catalog(schema), _form(target))
        with written_whole(target) as file:
            file.write(text.encode())
    messages.print(f"wrote {target}", markup=False)


@app.command()
def grow(
    schema: Annotated[str, typer.Argument(metavar="SCHEMA", help="JSON or XML; none with --server.")],
    changes: Annotated[
        str,
        typer.Argument(metavar="CHANGES", help="JSON (one change or a list), or a file of it.", show_default=False),
    ] = "",
    server: InsteadServer = "",
    token: Token = "",
    output_file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            callback=writable,
            help="Where to write the grown schema. Default: standard output.",
        ),
    ] = None,
) -> None:
    """Apply changes to a schema: in a file all or none, on a server one after another.

    Changes: create_domain, create_attribute, create_event_type, extend_event_type, append_value, append_node,
    set_headline, set_statistics.
    On a server, a whole schema file works too: what is missing there is created.

    Example: tidings schema grow schema.json '{"change": "append_value", "domain": "brand", "value": "audi"}'
    """
    if address := instead(server, changes):
        if output_file is not None:
            raise typer.BadParameter("a server uses its own schema.", param_hint="'--output'")
        _grow_at_server(address, token, schema)
        return
    path = existing_file(schema)
    if path is None:
        raise typer.BadParameter(f"no file {schema!r}.", param_hint="'SCHEMA'")
    if not changes:
        raise typer.BadParameter("name the changes, or a server with --server URL.", param_hint="'CHANGES'")
    with plain_errors():
        catalog = load_catalog(path)
        before = catalog.version
        for number, raw in enumerate(_changes(changes), 1):
            try:
                change = json_form.read_change(raw, f"change {number}")
                catalog = grown(catalog, change)
                if isinstance(change, CreateDomain) and (grammar := change.domain.document.grammar) is not None:
                    check_compiles(grammar)
            except SchemaError as problem:
                said = str(problem).removeprefix(f"change {number}: ")
                raise SchemaForm(f"change {number} refused, nothing was changed", said) from None
        text = dump(catalog, "xml" if _form(output_file or path) == "xml" else "json")
        with written_whole(output_file) as file:
            file.write(text.encode())
    messages.print(f"schema version {before} became {catalog.version}", markup=False)


def _grow_at_server(address: str, token: str, text: str) -> None:
    with connected(address, token) as client:
        before = client.schema()
        version = before.version
        for change in _changes_at_server(text, before):
            version = client.grow(change)
    messages.print(f"schema version {before.version} became {version}", markup=False)


def _changes_at_server(text: str, there: Catalog) -> list[Change]:
    """The changes of a text or a file; of a whole schema, those declarations that are not there in the same words."""
    path = existing_file(text)
    if path is not None and _form(path) == "xml":
        declared = load_catalog(path)
    else:
        read = _changes(text)
        if not (len(read) == 1 and isinstance(read[0], dict) and "change" not in read[0]):
            return [json_form.read_change(raw, f"change {number}") for number, raw in enumerate(read, 1)]
        declared = json_form.read(read[0])
    made = set(changes_to_make(there))
    wanted = (change for change in changes_to_make(declared) if not isinstance(change, SetStatistics))
    return [change for change in wanted if change not in made]


def _changes(text: str) -> list[object]:
    """One change, a list of them, or JSON Lines; as text or in a file."""
    content: str | bytes = text
    if not text.lstrip().startswith(("{", "[")):
        path = existing_file(text)
        if path is None:
            raise typer.BadParameter(f"{shown(text)} is neither a file nor JSON.", param_hint="'CHANGES'")
        content = path.read_bytes()
    try:
        parsed = json_form.parse(content)
    except SchemaForm:
        lines = [line for line in content.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        parsed = [_change(line, number) for number, line in enumerate(lines, 1)]
    changes = parsed if isinstance(parsed, list) else [parsed]
    if not changes:
        raise SchemaForm("", "the list has no changes")
    return changes


def _change(line: str | bytes, number: int) -> object:
    try:
        return json_form.parse(line)
    except SchemaForm as problem:
        raise SchemaForm(f"change {number}", str(problem)) from None

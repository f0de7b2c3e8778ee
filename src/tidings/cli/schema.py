"""`tidings schema`: check, show, convert and grow the shared vocabulary."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from tidings.cli.options import ExistingFile, load_catalog
from tidings.cli.terminal import messages, output, plain_errors, written_whole
from tidings.errors import SchemaError
from tidings.schema import json_form
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.files import dump, write_catalog
from tidings.schema.growth import grow as grown
from tidings.schema.json_form import SchemaForm

app = typer.Typer(no_args_is_help=True, help="Check, show, convert and grow a schema.")

_NODES_SHOWN = 40

SchemaArgument = Annotated[
    Path, typer.Argument(metavar="SCHEMA", help="JSON or XML.", show_default=False, **ExistingFile)
]


@app.command()
def check(schema: SchemaArgument) -> None:
    """Check a schema and say everything that is wrong with it.

    Example: tidings schema check schema.json
    """
    with plain_errors():
        catalog = load_catalog(schema)
    messages.print(f"{schema.name} is a valid schema: {_size(catalog)}", markup=False)


@app.command()
def show(
    schema: SchemaArgument,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show event types, attributes and domains.

    Example: tidings schema show schema.json
    """
    with plain_errors():
        catalog = load_catalog(schema)
        if json:
            output.print_json(data=json_form.write(catalog))
            return
    output.print(f"schema version {catalog.version}: {_size(catalog)}")
    output.print(_event_types(catalog))
    for domain in catalog.domains:
        output.print(_domain(domain))


@app.command()
def convert(
    schema: SchemaArgument,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="Ends in .json or .xml.", show_default=False)],
) -> None:
    """Convert between the JSON and the XML form, by the target's ending.

    Example: tidings schema convert ieschema.xml schema.json
    """
    with plain_errors():
        write_catalog(load_catalog(schema), target)
    messages.print(f"wrote {target}", markup=False)


@app.command()
def grow(
    schema: SchemaArgument,
    changes: Annotated[
        str, typer.Argument(metavar="CHANGES", help="JSON (one change or a list), or a file of it.", show_default=False)
    ],
    output_file: Annotated[
        Path | None, typer.Option("--output", help="Where the grown schema goes; else standard output.")
    ] = None,
) -> None:
    """Grow a schema by its rules; all changes are made or none.

    Changes: create_domain, create_attribute, create_event_type, extend_event_type, append_value, append_node.

    Example: tidings schema grow schema.json '{"change": "append_value", "domain": "brand", "value": "audi"}'
    """
    with plain_errors():
        catalog = load_catalog(schema)
        before = catalog.version
        for number, raw in enumerate(_changes(changes), 1):
            try:
                catalog = grown(catalog, json_form.read_change(raw, f"change {number}"))
            except SchemaError as problem:
                raise SchemaForm(f"change {number} refused, nothing was changed", str(problem)) from None
        form = "xml" if (output_file or schema).suffix == ".xml" else "json"
        with written_whole(output_file) as file:
            file.write(dump(catalog, form).encode() + b"\n")
    messages.print(f"schema version {before} became {catalog.version}", markup=False)


def _changes(text: str) -> list[object]:
    """One change, a list of them, or JSON Lines; as text or in a file."""
    if not text.lstrip().startswith(("{", "[")):
        path = Path(text)
        if not path.is_file():
            raise SchemaForm("changes", f"{text[:60]!r} is neither JSON nor a file")
        text = path.read_text(encoding="utf-8-sig")
    try:
        parsed = json_form.parse(text)
    except SchemaForm:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        parsed = [json_form.parse(line) for line in lines]
    return parsed if isinstance(parsed, list) else [parsed]


def _size(catalog: Catalog) -> str:
    counted = (
        (catalog.event_types, "event type"),
        (catalog.attributes, "attribute"),
        (catalog.domains, "domain"),
    )
    return ", ".join(f"{len(items):,} {name}{'' if len(items) == 1 else 's'}" for items, name in counted)


def _event_types(catalog: Catalog) -> Table:
    table = Table("event type", "attribute", "domain", "mandatory", "values", box=None, pad_edge=False)
    for event_type in catalog.event_types:
        name = event_type.name
        for use in event_type.attributes:
            domain = catalog.domain_of(use.name)
            mandatory, unique = "yes" if use.mandatory else "", "one" if use.unique else "several"
            table.add_row(escape(name), escape(use.name), escape(domain.name if domain else ""), mandatory, unique)
            name = ""
    return table


def _domain(domain: Domain) -> Tree:
    operators = " ".join(domain.operators or ())
    tree = Tree(f"[bold]{escape(domain.name)}[/] {domain.kind}: {escape(operators)}")
    if domain.kind is Kind.ENUMERATED:
        shown = ", ".join(map(json_module.dumps, domain.values[:_NODES_SHOWN]))
        tree.add(escape(shown + _more(len(domain.values))) + (" (in this order)" if domain.ordered else ""))
    branches = {-1: tree}
    for number, node in enumerate(domain.hierarchy.nodes[:_NODES_SHOWN]):
        branches[number] = branches[domain.hierarchy.parents[number]].add(escape(node))
    if len(domain.hierarchy) > _NODES_SHOWN:
        tree.add(_more(len(domain.hierarchy)).removeprefix(", "))
    return tree


def _more(count: int) -> str:
    return f", … {count - _NODES_SHOWN:,} more" if count > _NODES_SHOWN else ""

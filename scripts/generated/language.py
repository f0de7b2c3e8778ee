"""The language's tables: operators by kind of domain, the grammar and the keywords, as parser and schema have them."""

from __future__ import annotations

from typing import Any

from generated.part import table
from tidings.errors import LanguageError
from tidings.language import Filter, parser, tokens
from tidings.language.composites import parser as composite_parser
from tidings.schema import Catalog, json_form
from tidings.schema.domain import Kind

# A predicate on an attribute of each kind, with a value of that kind.
_VALUES = {
    Kind.NUMERIC: ("5", "7"),
    Kind.STRING: ("'a'", "'b'"),
    Kind.ENUMERATED: ("'a'", "'b'"),
    Kind.HIERARCHICAL: ("'a'", "'b'"),
    Kind.TEXT: ("'a'", "'b'"),
    Kind.TIME: ("'2026-01-01'", "'2026-02-01'"),
    Kind.PLACE: ("(1, 2)", "(3, 4)"),
    Kind.DOCUMENT: ("'<a/>'", "'<b/>'"),
}
_FORMS = (
    *((f"`{operator}`", f"{{name}} {operator} {{value}}") for operator in ("=", "!=", "<", "<=", ">", ">=")),
    ("`in`", "{name} in ({value}, {other})"),
    ("`between`", "{name} between {value} and {other}"),
    ("`under`", "{name} under {value}"),
    ("`starts with`, `ends with`, `like`", "{name} starts with 'a'"),
    ("`contains` a value", "{name} contains {value}"),
    ("`contains any`, `contains all`", "{name} contains any 'a b'"),
    ("`contains (pattern)`", "{name} contains (a* and not b)"),
    ("`~`", "{name} ~ 'a' at least 0.5"),
    ("`exists`", "{name} exists"),
    ("another attribute on the right", '{name} = "{name}2"'),
    ("`2 *` another attribute `+ 5`", '{name} = 2 * "{name}2" + 5'),
    ("another attribute `+ 2 h`", '{name} = "{name}2" + 2 h'),
    ("`now`", "{name} < now + 2 h"),
    ("`near`, `inside`", "{name} near (1, 2) within 3 km"),
    ("`xpath`", "{name} xpath '//a'"),
)


def operators() -> str:
    """Every form tried on every kind: yes where the language takes it."""
    catalog = _catalog()
    kinds = [*Kind, "enumerated, ordered"]
    rows = []
    for shown, form in _FORMS:
        cells = [_taken(form, kind, catalog) for kind in kinds]
        rows.append([shown, *cells])
    return table(["form", *map(str, kinds)], rows) + "\n\n" + _may_allow()


def _may_allow() -> str:
    listed = (f"{kind} {' '.join(f'`{one}`' for one in kind.operators)}" for kind in Kind)
    return "This table is for domains without restrictions. A domain's `operators` may list: " + "; ".join(listed) + "."


def grammar() -> str:
    lines = (parser.__doc__ or "").strip().splitlines()[2:]
    words = " ".join(f"`{word}`" for word in sorted(tokens.KEYWORDS))
    return "\n".join(f"    {line}" for line in lines) + f"\n\nKeywords: {words}."


def composite_grammar() -> str:
    lines = (composite_parser.__doc__ or "").strip().splitlines()[2:]
    return "\n".join(f"    {line}" for line in lines)


def _taken(form: str, kind: str, catalog: Catalog) -> str:
    name = "ordered" if "," in kind else str(kind)
    value, other = _VALUES[Kind.ENUMERATED if name == "ordered" else Kind(kind)]
    try:
        Filter.parse(form.format(name=name, value=value, other=other), catalog)
    except LanguageError:
        return ""
    return "yes"


def _catalog() -> Catalog:
    more: dict[Kind, dict[str, Any]] = {
        Kind.ENUMERATED: {"values": ["a", "b"]},
        Kind.HIERARCHICAL: {"tree": {"a": {"b": {}}}},
    }
    domains: list[dict[str, Any]] = [{"name": str(kind), "kind": str(kind), **more.get(kind, {})} for kind in Kind]
    domains.append({"name": "ordered", "kind": "enumerated", "values": ["a", "b"], "ordered": True})
    names = [(f"{domain['name']}{number}", domain["name"]) for domain in domains for number in ("", "2")]
    attributes = [{"name": name, "domain": domain} for name, domain in names]
    uses = [{"name": name} for name, _ in names]
    return json_form.read(
        {"domains": domains, "attributes": attributes, "event_types": [{"name": "all", "attributes": uses}]}
    )

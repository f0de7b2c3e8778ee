"""The schema in the XML form of the thesis's appendix A: `read` and `write` a catalog.

    <IESCHEMA version="3">
      <A><VALUE>brand</VALUE></A>
      <ET><VALUE>car</VALUE></ET>
      <D><DOMAIN oid="1" name="brand" type="enum" attr="opel, mini"><OPER type="eq"/></DOMAIN></D>
      <DOM><ATTR_DOM name="brand" type="1"/></DOM>
      <E><E_TYPE type="car"><E_ATTR mandatory="true" unique="true" domid="1" type="brand"/></E_TYPE></E>
    </IESCHEMA>

Ours beside the thesis's: `version`; on DOMAIN `name` (else the oid is the name), `ordered`, the types
hierarchical (with NODE elements inside), text, time, place and document (with `root`, NAMESPACE and GRAMMAR elements),
`open`, and VALUE elements, taken to the letter, instead of `attr`; the operator `similar`; on E_TYPE `headline`.
`event_type` is not written, since its domain is always the enumeration of the event types.

The appendix has typing errors. Those that leave no doubt are put right when read, each with a note; all
others are errors.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from lxml import etree

from tidings.errors import SchemaError, one_of, shown, suggestion
from tidings.schema import safe_xml
from tidings.schema.catalog import (
    EVENT_TYPE,
    Attribute,
    AttributeUse,
    Catalog,
    EventType,
    InvalidSchema,
    NameTaken,
    UnknownName,
)
from tidings.schema.documents.grammar import Grammar
from tidings.schema.documents.rules import DocumentRules
from tidings.schema.domain import Domain, Kind
from tidings.schema.dtd import OPERATORS, TYPES
from tidings.schema.hierarchy import NO_PARENT, Hierarchy
from tidings.schema.json_form import SchemaForm

# Each element with the elements that may stand in it, the attributes it must have and those it may have.
_FORM: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "IESCHEMA": (("A", "ET", "D", "DOM", "E"), (), ("version",)),
    "A": (("VALUE",), (), ()),
    "ET": (("VALUE",), (), ()),
    "VALUE": ((), (), ()),
    "D": (("DOMAIN",), (), ()),
    "DOMAIN": (
        ("OPER", "VALUE", "NODE", "NAMESPACE", "GRAMMAR"),
        ("oid", "type"),
        ("attr", "name", "ordered", "open", "language", "root"),
    ),
    "NAMESPACE": ((), ("prefix", "uri"), ()),
    "GRAMMAR": ((), ("type",), ()),
    "OPER": ((), ("type",), ()),
    "NODE": (("NODE",), ("name",), ()),
    "DOM": (("ATTR_DOM",), (), ()),
    "ATTR_DOM": ((), ("name", "type"), ()),
    "E": (("E_TYPE",), (), ()),
    "E_TYPE": (("E_ATTR",), ("type",), ("headline",)),
    "E_ATTR": ((), ("mandatory", "unique", "type"), ("domid",)),
}
_OPERATOR_NAMES = {operator: name for name, operator in OPERATORS.items()}
_TYPE_NAMES = {kind: name for name, kind in TYPES.items()}
_BLANKS = " \t\r\n"
_LONGEST_ATTR = 10_000  # characters; a longer list reads better, and within libxml2's limits, as elements
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(text: bytes | str) -> tuple[Catalog, tuple[str, ...]]:
    """The catalog, and a note for every typing error found and what was assumed; raises SchemaError."""
    root, notes = safe_xml.parse(text, _FORM)
    if problems := tuple(_form_problems(root)):
        raise InvalidSchema(problems)
    return _Reader(root, notes).catalog(), tuple(notes)


def write(catalog: Catalog) -> str:
    """The text, which `read` reads back to an equal catalog; raises SchemaForm where XML cannot hold it."""
    oids = {domain.name: str(number) for number, domain in enumerate(catalog.domains, start=1)}
    domain_of = {attribute.name: oids[attribute.domain] for attribute in catalog.attributes}
    root = etree.Element("IESCHEMA", version=str(catalog.version))
    for section, names in (("A", domain_of), ("ET", catalog.event_type_names)):
        _write_values(etree.SubElement(root, section), tuple(names))
    domains = etree.SubElement(root, "D")
    for domain in catalog.domains:
        _write_domain(domains, domain, oids[domain.name])
    attributes = etree.SubElement(root, "DOM")
    for name, oid in domain_of.items():
        etree.SubElement(attributes, "ATTR_DOM", name=name, type=oid)
    event_types = etree.SubElement(root, "E")
    for event_type in catalog.event_types:
        element = etree.SubElement(event_types, "E_TYPE", type=event_type.name)
        if event_type.headline:
            element.set("headline", event_type.headline)
        for use in event_type.attributes:
            flags = {"mandatory": str(use.mandatory).lower(), "unique": str(use.unique).lower()}
            etree.SubElement(element, "E_ATTR", flags | {"domid": domain_of[use.name], "type": use.name})
    written: str = etree.tostring(root, encoding="unicode", pretty_print=True)
    if (size := len(written.encode())) > safe_xml.LARGEST - 100:
        raise SchemaForm("", f"the schema would take {size:,} bytes of XML, more than is read back; write it as JSON")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{written}'


def _write_domain(parent: etree._Element, domain: Domain, oid: str) -> None:
    for value in domain.vocabulary:
        if found := _NOT_XML.search(value):
            raise SchemaForm(
                f"domain {domain.name!r}",
                f"XML cannot hold the character U+{ord(found[0]):04X} in {shown(value)}; write it as JSON",
            )
    element = etree.SubElement(parent, "DOMAIN", oid=oid)
    if domain.name != oid:
        element.set("name", domain.name)
    element.set("type", _TYPE_NAMES[domain.kind])
    for flag in ("ordered", "open"):
        if getattr(domain, flag):
            element.set(flag, "true")
    if domain.language is not None:
        element.set("language", domain.language)
    if domain.document.root:
        element.set("root", domain.document.root)
    listed = ", ".join(domain.values)
    as_elements = len(listed) > _LONGEST_ATTR or not all(map(_fits_a_list, domain.values))
    if domain.kind is Kind.ENUMERATED and not as_elements:
        element.set("attr", listed)
    for operator in domain.operators or ():
        etree.SubElement(element, "OPER", type=_OPERATOR_NAMES[operator])
    if as_elements:
        _write_values(element, domain.values)
    for prefix, namespace in domain.document.namespaces:
        etree.SubElement(element, "NAMESPACE", prefix=prefix, uri=namespace)
    if domain.document.grammar is not None:
        etree.SubElement(element, "GRAMMAR", type=domain.document.grammar.kind).text = domain.document.grammar.text
    nodes: list[etree._Element] = []
    for name, above in zip(domain.hierarchy.names, domain.hierarchy.parents, strict=True):
        nodes.append(etree.SubElement(element if above == NO_PARENT else nodes[above], "NODE", name=name))


def _write_values(parent: etree._Element, values: tuple[str, ...]) -> None:
    for value in values:
        etree.SubElement(parent, "VALUE").text = value


def _fits_a_list(value: str) -> bool:
    """Whether the value survives in `attr`, between commas and stripped of blanks."""
    return bool(value) and value == value.strip(_BLANKS) and not any(mark in value for mark in ",\r\n")


def _form_problems(root: etree._Element) -> Iterator[SchemaError]:
    """What is not of the form at all: elements, attributes and text where there may be none."""
    if root.tag != "IESCHEMA":
        yield SchemaForm(_place(root), f"expected the element <IESCHEMA>, got <{root.tag}>")
        return
    seen: set[str] = set()
    for element in root.iter():
        if element.tag not in _FORM:
            continue  # it was reported with its parent
        children, required, optional = _FORM[element.tag]
        for name in required:
            if name not in element.attrib:
                yield SchemaForm(_place(element), f"the attribute {name!r} is missing")
        for name in map(str, element.attrib):
            if name not in required + optional:
                yield SchemaForm(_place(element), f"no attribute {name!r}{suggestion(name, required + optional)}")
        for child in element:
            if child.tag not in children:
                yield SchemaForm(
                    _place(child), f"it is not allowed in <{element.tag}>{suggestion(child.tag, children)}"
                )
            elif element is root and child.tag in seen:
                yield SchemaForm(_place(child), "it occurs twice")
            seen.add(child.tag)
            if (child.tail or "").strip(_BLANKS):
                yield SchemaForm(_place(child), f"stray text after it: {shown((child.tail or '').strip(_BLANKS))}")
        if element.tag not in ("VALUE", "GRAMMAR") and (text := (element.text or "").strip(_BLANKS)):
            yield SchemaForm(_place(element), f"stray text in it: {shown(text)}")


class _Reader:
    """One reading: what was found so far, and what was wrong with it."""

    def __init__(self, root: etree._Element, notes: list[str]) -> None:
        self.root = root
        self.sections = {section.tag: section for section in root}
        self.notes = notes
        self.problems: list[SchemaError] = []
        self.domains: dict[str, Domain | None] = {}  # by oid; None: unreadable, and reported

    def catalog(self) -> Catalog:
        self._read_domains()
        attributes = self._attributes()
        event_types = self._event_types({attribute.name: attribute.domain for attribute in attributes})
        self._settle_event_type({event_type.name for event_type in event_types})
        version = self.root.get("version", "1")
        if not re.fullmatch(r"0*[1-9][0-9]{0,99}", version):
            self._refuse(self.root, f"'version' must be a positive integer, got {shown(version)}")
        if self.problems:
            raise InvalidSchema(tuple(self.problems))
        domains = tuple(domain for domain in self.domains.values() if domain is not None)
        return Catalog(domains, attributes, event_types, int(version))

    def _read_domains(self) -> None:
        for element in self._in("D"):
            oid = _attribute(element, "oid")
            if oid in self.domains:
                self._refuse(element, f"the oid {oid!r} occurs twice")
                continue
            self.domains[oid] = None
            try:
                self.domains[oid] = self._domain(element, element.get("name", oid))
            except SchemaError as problem:
                self.problems.append(problem)

    def _domain(self, element: etree._Element, name: str) -> Domain:
        type_name = _attribute(element, "type")
        kind = TYPES.get(type_name)
        if kind is None:
            raise SchemaForm(_place(element), f"no type {type_name!r}{suggestion(type_name, tuple(TYPES))}")
        listed = element.get("attr", "").strip(_BLANKS)
        values = [value.text or "" for value in element.findall("VALUE")]
        parts = (
            ("attr", listed),
            ("VALUE", values),
            ("ordered", element.get("ordered")),
            ("open", element.get("open")),
        )
        for part, given in parts:
            if given and kind is not Kind.ENUMERATED:
                raise SchemaForm(_place(element), f"{part!r} belongs to domains of type 'enum'; this is {type_name!r}")
        if element.find("NODE") is not None and kind is not Kind.HIERARCHICAL:
            raise SchemaForm(_place(element), f"'NODE' belongs to hierarchical domains; this is {type_name!r}")
        if listed and values:
            raise SchemaForm(_place(element), "give the values either in 'attr' or as <VALUE> elements, not in both")
        if listed:
            values = [value.strip(_BLANKS) for value in listed.split(",")]
            if "" in values:
                self._note(element, f"a comma too many in attr={shown(listed)}; no empty value was taken")
                values = [value for value in values if value]
        ordered, open = (flag in element.attrib and self._flag(element, flag) for flag in ("ordered", "open"))
        tree, language = hierarchy_of(element), element.get("language")
        rules = document_rules_of(element)
        return Domain(name, kind, self._operators(element), tuple(values), ordered, tree, open, language, rules)

    def _operators(self, element: etree._Element) -> tuple[str, ...]:
        operators = []
        for listed in element.findall("OPER"):
            name = _attribute(listed, "type")
            if name not in OPERATORS:
                raise SchemaForm(_place(listed), f"no operator {name!r}{suggestion(name, tuple(OPERATORS))}")
            operators.append(OPERATORS[name])
        return tuple(operators)

    def _attributes(self) -> tuple[Attribute, ...]:
        """From DOM, which A must agree with."""
        made = []
        named = {name: element for element, name in self._names("A", {_attribute(e, "name") for e in self._in("DOM")})}
        for element in self._in("DOM"):
            name, oid = _attribute(element, "name"), _attribute(element, "type")
            if named.pop(name, None) is None:
                self._note(element, f"attribute {name!r} is missing from <A>; it was accepted")
            if name == EVENT_TYPE:
                continue
            if oid not in self.domains:
                self.problems.append(UnknownName("domain", oid, f"attribute {name!r}", tuple(self.domains)))
                continue
            domain = self.domains[oid]
            made.append(Attribute(name, oid if domain is None else domain.name))
        for name, element in named.items():
            if name != EVENT_TYPE:
                self._refuse(element, f"attribute {name!r} has no domain: its <ATTR_DOM> is missing")
        return tuple(made)

    def _event_types(self, domain_of: dict[str, str]) -> tuple[EventType, ...]:
        """In the order of ET; a type that only ET or only E has is accepted with a note."""
        read = [self._event_type(element, domain_of) for element in self._in("E")]
        made = {event_type.name: event_type for event_type in read}
        self.problems += _repeated("event type", [event_type.name for event_type in read])
        ordered = []
        for element, name in self._names("ET", set(made)):
            if name not in made:
                self._note(element, f"event type {name!r} has no <E_TYPE>; it was taken to have no attributes")
            ordered.append(made.pop(name, EventType(name)))
        for name in made:
            self.notes.append(f"event type {name!r} is missing from <ET>; it was accepted")
        return (*ordered, *made.values())

    def _event_type(self, element: etree._Element, domain_of: dict[str, str]) -> EventType:
        event_type = _attribute(element, "type")
        uses = []
        for used in element:
            name = _attribute(used, "type")
            if name == EVENT_TYPE:
                self._note(used, f"event type {event_type!r}: event_type is always mandatory and was left out")
                continue
            taken, domid = domain_of.get(name), used.get("domid")
            named = self.domains.get(domid) if domid is not None else None
            if domid is not None and taken is not None and (named is None or named.name != taken):
                self._note(
                    used,
                    f"event type {event_type!r}: attribute {name!r} has domid {domid!r}, "
                    f"but <DOM> gives it the domain {taken!r}, which was taken",
                )
            uses.append(AttributeUse(name, self._flag(used, "mandatory"), self._flag(used, "unique")))
        return EventType(event_type, tuple(uses), element.get("headline", ""))

    def _settle_event_type(self, event_types: set[str]) -> None:
        for element in self._in("DOM"):
            if _attribute(element, "name") == EVENT_TYPE:
                oid = _attribute(element, "type")
                domain = self.domains.get(oid)
                if domain is None or set(domain.values) != event_types:
                    what = "which does not exist" if domain is None else f"which is {domain.kind}"
                    self._note(
                        element,
                        f"event_type had domain {oid!r}, {what}; it got the enumeration of the event types",
                    )

    def _in(self, section: str) -> list[etree._Element]:
        return list(self.sections[section]) if section in self.sections else []

    def _names(self, section: str, declared: set[str]) -> list[tuple[etree._Element, str]]:
        """The names that A or ET lists: to the letter where declared so, else without the blanks around."""
        made = []
        for element in self._in(section):
            text = element.text or ""
            made.append((element, text if text in declared else text.strip(_BLANKS)))
        self.problems += _repeated("attribute" if section == "A" else "event type", [name for _, name in made])
        return made

    def _flag(self, element: etree._Element, name: str) -> bool:
        written = _attribute(element, name)
        word = written.strip(_BLANKS)
        if word not in ("true", "false"):
            near = [legal for legal in ("true", "false") if safe_xml.is_near_miss(word, legal)]
            if len(near) != 1:
                self._refuse(element, f"{name!r} must be {one_of(('true', 'false'))}, got {shown(written)}")
                return False
            self._note(element, f"{name}={written!r} was read as {near[0]!r}")
            word = near[0]
        return word == "true"

    def _note(self, element: etree._Element, note: str) -> None:
        self.notes.append(f"line {element.sourceline}: {note}")

    def _refuse(self, element: etree._Element, problem: str) -> None:
        self.problems.append(SchemaForm(_place(element), problem))


def document_rules_of(element: etree._Element) -> DocumentRules:
    """The attribute `root` and the elements NAMESPACE and GRAMMAR."""
    namespaces = tuple((_attribute(one, "prefix"), _attribute(one, "uri")) for one in element.findall("NAMESPACE"))
    grammars = element.findall("GRAMMAR")
    if len(grammars) > 1:
        raise SchemaForm(_place(grammars[1]), "a domain has one grammar")
    grammar = None
    for one in grammars:
        kind = _attribute(one, "type")
        if kind not in ("dtd", "xsd"):
            raise SchemaForm(_place(one), f"no type {kind!r}; valid types: dtd, xsd")
        grammar = Grammar("dtd" if kind == "dtd" else "xsd", one.text or "")
    return DocumentRules(grammar, element.get("root", ""), namespaces)


def hierarchy_of(element: etree._Element) -> Hierarchy:
    """The NODE elements within; document order is pre-order."""
    nodes: list[str] = []
    parents: list[int] = []
    path = [NO_PARENT]
    for event, node in etree.iterwalk(element, events=("start", "end"), tag="NODE"):
        if event == "start":
            parents.append(path[-1])
            path.append(len(nodes))
            nodes.append(_attribute(node, "name"))
        else:
            path.pop()
    return Hierarchy(tuple(nodes), tuple(parents))


def _repeated(what: str, names: list[str]) -> list[SchemaError]:
    return [NameTaken(what, name) for name, count in Counter(names).items() if count > 1]


def _attribute(element: etree._Element, name: str) -> str:
    """One that the form requires, so it is there."""
    return str(element.attrib[name])


def _place(element: etree._Element) -> str:
    return f"line {element.sourceline}, <{element.tag}>"

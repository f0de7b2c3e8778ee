"""Documents as flat arrays, compared with the tree that lxml makes of them; and what is refused."""

import pytest
from hypothesis import given, settings
from lxml import etree

from tests.documents.strategies import documents
from tidings.documents.batch import DocumentLimits, read_documents
from tidings.documents.names import ATTRIBUTE, ELEMENT
from tidings.schema.documents.errors import DocumentTooLarge, MalformedDocument

PARSER = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True)


def from_arrays(batch, document=0):
    """Each node: its kind, its name, its string value, the place of its parent."""
    first, stop = batch.offsets[document], batch.offsets[document + 1]
    nodes, names = batch.nodes, batch.names

    def name_of(number):
        local = bytes(names.text[names.offsets[number] : names.offsets[number + 1]]).decode()
        space = names.space[number]
        return f"{{{name_of(space - 1)}}}{local}" if space else local

    kinds = {ELEMENT: "element", ATTRIBUTE: "attribute"}
    made = []
    for node in range(first, stop):
        name = nodes.name[node]
        value = bytes(nodes.text[nodes.start[node] : nodes.stop[node]]).decode()
        parent = int(nodes.parent[node])
        made.append((kinds.get(names.kind[name], "text"), name_of(name), value, parent - first if parent >= 0 else -1))
    return made


def from_lxml(document):
    made = []

    def add(element, parent):
        place = len(made)
        made.append(("element", element.tag, "".join(element.itertext()), parent))
        for name, value in element.attrib.items():
            made.append(("attribute", name, value, place))
        if element.text:
            made.append(("text", "", element.text, place))
        for child in element:
            add(child, place)
            if child.tail:
                made.append(("text", "", child.tail, place))

    add(etree.fromstring(document, PARSER), -1)
    return made


CASES = [
    b"<a/>",
    b"<a>x<b k='1' j=\"2\">y</b>z</a>",
    b"\xef\xbb\xbf<?xml version='1.0'?><!-- c --><a>x<!-- no - tags <b> -->y</a>",
    b"<a>x<?p q?>y<![CDATA[<&]]>z<![CDATA[]]></a>",
    b"<a k='&lt;&#10;&#x1F600;\n\t\r\n&amp;&apos;&quot;&gt;'>&#233;\r\n\r&lt;</a>",
    b"<!DOCTYPE a SYSTEM 'a>b.dtd'><a\n  k = 'v'  >  </a  ><?p?>",
    b"<a xmlns='urn:d' xmlns:n='urn:n' k='0' n:k='1'><n:b xmlns=''><c/></n:b><b/></a>",
    b"<n:a xmlns:n='urn:&amp;1'><n:a xmlns:n='urn:2' n:k='v'/><n:a/></n:a>",
    b"<a xml:lang='en'/>",
    "<é ü='ß'>日本</é>".encode(),
    "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>".encode("iso-8859-1"),
    "<a>é</a>".encode("utf-16"),
]


@pytest.mark.parametrize("document", CASES, ids=range(len(CASES)))
def test_documents_become_the_nodes_that_lxml_finds(document):
    assert from_arrays(read_documents([document])) == from_lxml(document)


@settings(max_examples=60)
@given(document=documents)
def test_random_documents_become_the_nodes_that_lxml_finds(document):
    assert from_arrays(read_documents([document])) == from_lxml(document)


def test_a_batch_keeps_documents_apart():
    batch = read_documents(CASES)
    assert len(batch) == len(CASES)
    for place, document in enumerate(CASES):
        assert from_arrays(batch, place) == from_lxml(document)
    assert len(read_documents([])) == 0


LAUGHS = b"<!DOCTYPE a [<!ENTITY x 'ha'><!ENTITY y '&x;&x;&x;'>]><a>&y;</a>"


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (b"", (1, 1)),
        (b"<a>", (1, 4)),
        (b"<a>\n <b></a>", (2, 7)),
        (LAUGHS, (1, 13)),
        (b"<!DOCTYPE a SYSTEM 'file:///etc/hostname' []><a/>", (1, 43)),
        (b"<a>&x;</a>", (1, 4)),
        (b"<!DOCTYPE a SYSTEM 'file:///etc/hostname'>\n<a k='&x;'/>", (2, 7)),
        (b"<!DOCTYPE a SYSTEM 'file:///etc/hostname'>\n<a>1&x;</a>", (2, 5)),
        (b"<a>\xff</a>", (1, 4)),
        (b"<a>\xed\xa0\x80</a>", (1, 4)),
        (b"<a k='1' k='2'/>", (1, 10)),
        (b"<n:a/>", (1, 1)),
        (b"<a/><b/>", (1, 5)),
        (b"<?xml version='1.0' encoding='ebcdic'?><a/>", (1, 1)),
        (b"<?xml version='1.0' encoding='utf-16'?><a/>", (0, 0)),
    ],
)
def test_malformed_documents_are_refused_with_a_place(document, place):
    with pytest.raises(MalformedDocument) as refused:
        read_documents([b"<a/>", document])
    assert (refused.value.line, refused.value.column) == place


@pytest.mark.parametrize(
    ("document", "limits", "what"),
    [
        (b"<a>" * 101 + b"</a>" * 101, DocumentLimits(), "nested elements"),
        (b"<a><b><c/></b></a>", DocumentLimits(depth=2), "nested elements"),
        (b"<a>x<b k=''/></a>", DocumentLimits(nodes=3), "nodes"),
        (b"<a>xx</a>", DocumentLimits(nodes=1), "nodes"),
        (b"<a><![CDATA[x]]></a>", DocumentLimits(nodes=1), "nodes"),
        (b"<a/>" + b" " * 100, DocumentLimits(size=100), "bytes"),
        (
            b"<a %b/>" % b" ".join(b"xmlns:n%d='u'" % place for place in range(257)),
            DocumentLimits(),
            "namespaces declared at once",
        ),
    ],
)
def test_limits(document, limits, what):
    with pytest.raises(DocumentTooLarge) as refused:
        read_documents([document], limits)
    assert refused.value.what == what


def test_at_the_limits():
    assert len(read_documents([b"<a>x<b k=''/></a>"], DocumentLimits(depth=2, nodes=4)).nodes.name) == 4


def test_a_batch_with_more_names_than_it_begins_with():
    names = [f"n{place}" for place in range(3_000)]
    inner = "".join(f"<{name} k{name}='' n:k=''/>" for name in names)
    document = f"<a xmlns:n='urn:n'>{inner}</a>".encode()
    assert from_arrays(read_documents([b"<b/>", document]), 1) == from_lxml(document)

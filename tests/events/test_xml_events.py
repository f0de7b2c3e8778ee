import gzip
import io

import pytest

from tests.events.examples import ANTIQUE_CAR, EVERY_KIND
from tests.events.reading import line, places, read
from tidings.errors import EventError
from tidings.events import read_events, write_event
from tidings.events.files.lines import LONGEST_LINE, DamagedFile, EmptyFile, ForeignFile

# Thesis figure 5.3, as section 5.2.2 describes it, in the root of appendix B; the second one lacks its quantity (3.1).
WORKED_EXAMPLE = """<?xml version="1.0" encoding="UTF-8"?>
<EVENTS>
  <PUBLISH_EVENT id="e1" contact="spile@intelligence.tuc.gr">
    <EVENT_TYPE>
      <VALUE type="antique" />
      <VALUE type="car" />
    </EVENT_TYPE>
    <ATTRIBUTES>
      <ATTR type="price">1300</ATTR>
      <ATTR type="period">1970</ATTR>
      <ATTR type="quantity">1</ATTR>
      <ATTR type="brand">cooper</ATTR>
      <ATTR type="cc">1000</ATTR>
    </ATTRIBUTES>
  </PUBLISH_EVENT>
  <PUBLISH_EVENT id="e2" contact="spile@intelligence.tuc.gr">
    <EVENT_TYPE><VALUE type="antique" /><VALUE type="car" /></EVENT_TYPE>
    <ATTRIBUTES><ATTR type="price">3500</ATTR><ATTR type="period">1970</ATTR>
      <ATTR type="brand">audi</ATTR><ATTR type="cc">1200</ATTR></ATTRIBUTES>
  </PUBLISH_EVENT>
</EVENTS>
"""


def event(id, *attributes, types=("all",), **envelope):
    named = "".join(f' {name}="{value}"' for name, value in {"id": id, **envelope}.items() if value is not None)
    values = "".join(f'<VALUE type="{name}"/>' for name in types)
    bound = "".join(f'<ATTR type="{name}">{text}</ATTR>' for name, text in attributes)
    return f"<PUBLISH_EVENT{named}><EVENT_TYPE>{values}</EVENT_TYPE><ATTRIBUTES>{bound}</ATTRIBUTES></PUBLISH_EVENT>"


def document(*events):
    return "<EVENTS>\n" + "\n".join(events) + "\n</EVENTS>"


def test_the_worked_example():  # thesis 3.1, figures 5.3 and 5.4
    events, refused, _, _ = read(WORKED_EXAMPLE, "xml", ANTIQUE_CAR)
    assert [write_event(one) for one in events] == [
        {
            "id": "e1",
            "contact": "spile@intelligence.tuc.gr",
            "event_type": ["antique", "car"],
            "attributes": {"brand": "cooper", "cc": 1000, "period": 1970, "price": 1300, "quantity": 1},
        }
    ]
    assert places(refused) == [(16, "e2", [("mandatory", "quantity")])]


def test_values_are_read_by_their_domain():
    text = document(
        event(
            "1",
            ("price", " +1.50\n"),
            ("name", "007"),
            ("tags", "1"),
            ("tags", ""),
            ("tags", " a &lt; b &#233; "),
            ("sizes", "1"),
            ("sizes", "1.0"),
            ("sizes", "2e1"),
            ("brands", "mini"),
            ("category", "b"),
            ("when", "2026-05-01"),
            source="s",
            time="2026-05-01T10:00:00+02:00",
        ),
        "<!-- nobody --><?sort by price?>",
        event("2", ("price", "<![CDATA[7]]>"), types=("all", "free")),
    )
    events, refused, _, positions = read(text, "xml")
    assert refused == []
    assert [write_event(one) for one in events] == [
        {
            "id": "1",
            "source": "s",
            "time": "2026-05-01T08:00:00Z",
            "event_type": ["all"],
            "attributes": {
                "brands": "mini",
                "category": "a > b",
                "name": "007",
                "price": 1.5,
                "sizes": [1, 20],
                "tags": ["1", "", " a < b é "],
                "when": "2026-05-01T00:00:00Z",
            },
        },
        {"id": "2", "event_type": ["all", "free"], "attributes": {"price": 7}},
    ]
    assert positions == [1, 2]


def test_wrong_events_do_not_stop_the_others():
    text = document(
        event("1", ("price", "1")),
        event("2", ("price", "abc")),
        event("3", ("price", "9007199254740993")),
        event("4", ("price", ""), ("name", "x")),
        event("5", ("price", "1"), ("price", "2")),
        event(None, ("price", "1")),
        event("7", ("prise", "1")),
        event("8", ("price", "1"), types=("al",)),
        event("9", ("price", "1"), types=()),
        event("10", ("price", "1"), tim="now"),
        event("11", ("price", "1<b/>")),
        event("12", ("price", "1")).replace("<ATTR type=", "<ATTR oper='eq' type="),
        event("13", ("price", "1")).replace("<ATTRIBUTES>", "<ATTRIBUTES>price"),
        event("14", ("price", "1")).replace("ATTRIBUTES", "ATTRIBUTE"),
        event("15", ("price", "1")).replace("PUBLISH_EVENT", "PUBLISH_SUB"),
        "and so on",
        event("17", ("price", "1")),
        event("17", ("price", "2")),
    )
    events, refused, duplicates, _ = read(text, "xml")
    assert [one.id for one in events] == ["1", "17"]
    assert duplicates == 1
    form = [("form", None)]
    assert places(refused) == [
        (3, "2", [("domain", "price")]),
        (4, "3", [("domain", "price")]),
        (5, "4", [("domain", "price")]),
        (6, "5", [("unique", "price")]),
        (7, None, [("id", "id")]),
        (8, "7", [("view", "prise"), ("mandatory", "price")]),
        (9, "8", [("type", "event_type")]),
        (10, "9", [("mandatory", "event_type")]),
        (11, "10", form),
        (12, "11", form),
        (13, "12", form),
        (14, "13", form),
        (15, "14", form * 2),
        (16, "15", form),
        (17, None, form),
    ]
    told = {one.id: one.errors[0].message for one in refused}
    assert told["10"] == "<PUBLISH_EVENT> has no attribute 'tim'; did you mean 'time'?"
    assert told["11"] == "<b> is not allowed in <ATTR>"
    assert told["13"] == "there is text in <ATTRIBUTES>: 'price'"
    assert told["14"] == "<ATTRIBUTE> is not allowed in <PUBLISH_EVENT>; did you mean 'ATTRIBUTES'?"
    assert told["15"] == "<PUBLISH_SUB> is not an event; did you mean 'PUBLISH_EVENT'?"


def test_lines_beyond_those_that_libxml2_counts():
    text = document("\n" * 70_000 + event("1", ("price", "x")))
    assert places(read(text, "xml")[1]) == [(70_002, "1", [("domain", "price")])]


def test_events_before_a_fault_are_handed_on():
    text = document(event("1", ("price", "1")), event("2", ("price", "1")), event("3").replace("</EVENT_TYPE>", ""))
    readings = read_events(io.BytesIO(text.encode()), EVERY_KIND, "xml")
    assert [one.id for one in next(readings).batch] == ["1", "2"]
    with pytest.raises(DamagedFile, match=r"line 4.*mismatched tag"):
        next(readings)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", EmptyFile, "empty"),
        ("\n \n", ForeignFile, "no element found"),
        (line("1"), ForeignFile, "not well-formed"),
        ("<IESCHEMA/>", ForeignFile, "its root is <IESCHEMA>, that of a file of events is <EVENTS>"),
        ('<?xml version="1.0" encoding="EBCDIC-XX"?><EVENTS/>', ForeignFile, "encoding"),
        ("<EVENTS>" + event("1"), DamagedFile, "no element found"),
        ("<EVENTS/><EVENTS/>", DamagedFile, "junk after document element"),
        ("<EVENTS>" + "<a>" * 300, DamagedFile, "nested more than 256 deep"),
        ("<EVENTS>&nothing;</EVENTS>", DamagedFile, "undefined entity"),
        ("<EVENTS>" + "<!--" + "x" * 2 * LONGEST_LINE, DamagedFile, "longer than 1,000,000 bytes"),
    ],
)
def test_what_is_the_file_s_fault(text, kind, message):
    with pytest.raises(kind, match=message):
        read(text, "xml")


def test_a_file_without_events():
    assert read("<EVENTS/>", "xml") == ([], [], 0, [])


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE EVENTS [<!ENTITY price "1">]>',
        '<!DOCTYPE EVENTS SYSTEM "events.dtd" [<!ENTITY price "1">]>',
        '<!DOCTYPE EVENTS [<!ENTITY a "1"><!ENTITY price "' + "&a;" * 10_000 + '">]>',
        '<!DOCTYPE EVENTS [<!ENTITY price SYSTEM "file:///etc/hostname">]>',
        "<!DOCTYPE EVENTS []>",
    ],
)
def test_declarations_of_its_own_are_refused(declaration):
    with pytest.raises(EventError, match="may only name an external file"):
        read(declaration + document(event("1", ("price", "&price;"))), "xml")


def test_an_external_declaration_is_not_read():
    text = '<!DOCTYPE EVENTS SYSTEM "intellix.intelligence.tuc.gr:8090/dtds/events.dtd">'
    assert len(read(text + document(event("1", ("price", "1"))), "xml")[0]) == 1
    for wrong in (event("1", ("price", "&price;")), event("a&nothing;b", ("price", "1"))):
        with pytest.raises(DamagedFile, match="undefined entity"):
            read("<!-- before -->\n" + text + "\n" + document(wrong), "xml")


def test_an_event_that_is_too_long_is_refused_alone():
    long = "x" * LONGEST_LINE
    text = document(
        event("1", ("price", "1")),
        event("2", ("price", "1"), ("name", long)),
        event("3", ("price", "1"), *[("tags", str(number)) for number in range(50_000)]),
        event("4", ("price", "1")).replace("<ATTRIBUTES>", "<ATTRIBUTES>" + long),
        long * 2,
        event("5", ("price", "1")),
    )
    events, refused, _, _ = read(text, "xml")
    assert [one.id for one in events] == ["1", "5"]
    assert [(one.line, one.id, one.errors[0].message) for one in refused] == [
        (3, "2", "the event is longer than 1,000,000 bytes"),
        (4, "3", "the event is longer than 1,000,000 bytes"),
        (5, "4", "the event is longer than 1,000,000 bytes"),
        (6, None, f"there is text between the events: {'x' * 40!r}"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252", "iso-8859-7"])
def test_encodings(encoding):
    word = "π" if encoding.endswith("7") else "é"
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + document(event("1", ("price", "1"), ("name", word)))
    (read_one,) = read(text.encode(encoding), "xml")[0]
    assert dict(read_one.attributes)["name"] == (word,)


def test_packed_and_by_its_ending(tmp_path):
    path = tmp_path / "events.xml.gz"
    path.write_bytes(gzip.compress(document(event("1", ("price", "1"))).encode()))
    assert [one.id for reading in read_events(path, EVERY_KIND) for one in reading.batch] == ["1"]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DamagedFile):
        list(read_events(path, EVERY_KIND))


def test_many_events_come_in_chunks():
    text = document(*(event(str(number), ("price", str(number))) for number in range(10_000)))
    sizes = [len(reading.batch) for reading in read_events(io.BytesIO(text.encode()), EVERY_KIND, "xml", 1_000)]
    assert sum(sizes) == 10_000
    assert max(sizes) < 2_000


def test_xml_under_another_name_is_told():
    with pytest.raises(ForeignFile, match="form 'xml'"):
        read(WORKED_EXAMPLE, "jsonl")

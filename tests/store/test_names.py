"""Names and notes of subscriptions: kept by the journal, of no concern to matching, to sort and to search by."""

from pathlib import Path

import pytest

from tests.store.samples import Clock, publish, refusal, with_schema
from tidings.store import Accepted, Edit, Store, Subscribe, Withdraw, export_journal, import_journal, rebuild
from tidings.store.pages import owned


def named(store: Store, id: str = "s") -> tuple[str, str]:
    found = store.subscription(id)
    return found.name, found.note


def test_a_name_and_a_note_are_given_changed_and_taken_away(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3", "ann", name="Cheap", note="For mum.\nAsk first.")])
    assert named(store) == ("Cheap", "For mum.\nAsk first.")
    store.append([Edit("s", name="Cheapest")])
    assert named(store) == ("Cheapest", "For mum.\nAsk first.")
    store.append([Edit("s", "price < 2", note="")])
    assert (*named(store), store.subscription("s").filter) == ("Cheapest", "", "price < 2")
    store.append([Edit("s", name="")])
    assert named(store) == ("", "")


def test_another_name_is_no_concern_of_the_planner(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), publish("e")])
    spans, tail = list(store.spans()), store.tail()
    (done,) = store.append([Edit("s", name="Cheap", note="x")])
    assert isinstance(done, Accepted)
    assert done.position == store.tail() == tail + 1, "the journal has it"
    assert store.next_change(tail - 1) is None
    assert list(store.changes(tail - 1)) == []
    assert list(store.spans()) == spans


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"name": "a\nb"}, "its name must be one line of at most 100 printable characters"),
        ({"name": "x" * 101}, "its name must be one line"),
        ({"name": "\u202egpj.exe"}, "its name must be one line"),
        ({"name": "\ud800"}, "its name must be one line"),
        ({"note": "x" * 2_001}, "its note must be text of at most 2,000 printable characters"),
        ({"note": "\0"}, "its note must be text"),
    ],
)
def test_what_no_name_or_note_can_be(store: Store, members: dict[str, str], told: str) -> None:
    with_schema(store).append([Subscribe("s", "price < 3")])
    (posted, edited) = store.append([Subscribe("t", "price < 3", **members), Edit("s", **members)])  # type: ignore[arg-type]
    assert told in refusal(posted)
    assert told in refusal(edited)


def test_families_and_persian_words_may_be_names(store: Store) -> None:
    with_schema(store)
    for id, name in (("s", "👨\u200d👩\u200d👧 cars"), ("t", "می\u200cخواهم")):
        (done,) = store.append([Subscribe(id, "price < 3", name=name)])
        assert isinstance(done, Accepted)


def test_they_come_through_a_rebuild_and_a_file(store: Store, tmp_path: Path, clock: Clock) -> None:
    with_schema(store).append(
        [
            Subscribe("s", "price < 3", "ann", name="Cheap"),
            Edit("s", name="Günstig", note="n"),
            Subscribe("t", "price < 3"),
        ]
    )
    before = store.subscriptions()
    rebuild(store)
    assert store.subscriptions() == before
    export_journal(store, tmp_path / "journal")
    with Store.open(tmp_path / "other.db", clock) as other:
        import_journal(tmp_path / "journal", other)
        assert other.subscriptions() == before
        assert [one.id for one in owned.by_name(other, "ann", "", 5, text="GÜNST").found] == ["s"]


def _several(store: Store) -> Store:
    names = {"a": "banana", "b": "Apple", "c": "", "d": "äpfel", "e": "apple", "f": ""}
    drafts = [Subscribe(id, f"price < {number}", "ann", name=name) for number, (id, name) in enumerate(names.items())]
    with_schema(store).append([*drafts, Subscribe("g", "price < 9", "bob", name="Apple")])
    return store


def test_by_name_without_regard_to_case_then_those_without_one(store: Store) -> None:
    _several(store)
    whole = [one.id for one in owned.by_name(store, "ann", "", 10).found]
    assert whole == ["b", "e", "a", "d", "c", "f"]
    for limit in (1, 2, 3, 4, 5):
        paged: list[str] = []
        while some := owned.by_name(store, "ann", paged[-1] if paged else "", limit).found:
            paged += [one.id for one in some]
        assert paged == whole
    store.append([Withdraw("e")])
    assert [one.id for one in owned.by_name(store, "ann", "e", 2).found] == ["b", "a"], "from the first one on"


def test_a_search_finds_names_notes_and_filters_as_pages_show_them(store: Store) -> None:
    _several(store)
    store.append([Edit("a", "brand = 'mini' and price < 1", note="Yellow one")])
    for text, expected in (
        ("APPLE", ["e", "b"]), ("ÄPF", ["d"]), ("yellow", ["a"]), ("price < 3", ["d"]), ("brand = mini", ["a"]),
        ("100%", []),
    ):  # fmt: skip
        assert [one.id for one in owned.youngest(store, "ann", None, 10, text=text).found] == expected, text


def test_names_belong_to_owners(store: Store) -> None:
    _several(store)
    assert store.subscription_names(["a", "c", "g", "x"]) == {("a", "ann"): "banana", ("g", "bob"): "Apple"}
    store.append([Withdraw("a")])
    assert store.subscription_names(["a"]) == {}


@pytest.mark.parametrize("searched", [1, 2, 3, 100])
def test_a_search_looks_at_so_many_and_says_where_to_go_on(
    store: Store, monkeypatch: pytest.MonkeyPatch, searched: int
) -> None:
    monkeypatch.setattr(owned, "SEARCHED", searched)
    with_schema(store)
    names = ["red", "blue", "", "Red car", "", "green", "redder"]
    store.append([Subscribe(f"s{n}", f"price < {n}", "ann", name=name) for n, name in enumerate(names)])
    for list_page, wanted in ((owned.youngest, ["s6", "s3", "s0"]), (owned.by_name, ["s0", "s3", "s6"])):
        found, start, pages = [], None if list_page is owned.youngest else "", 0
        while True:
            listed = list_page(store, "ann", start, 10, text="RED")  # type: ignore[operator]
            found += [one.id for one in listed.found]
            pages += 1
            if listed.upto is None:
                break
            start = listed.upto
        assert found == wanted
        assert (pages > 1) == (searched < len(names))
        assert list_page(store, "ann", start, 10).upto is None  # type: ignore[operator]

"""`tidings feed add`, as a newcomer types it, against a real server and a site on loopback."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.cli.conftest import Tidings
from tests.feeds.conftest import Site
from tests.feeds.test_ready import FORMATS
from tests.service.conftest import Service
from tidings.cli.main import app
from tidings.cli.server.server import save_token
from tidings.client import Client
from tidings.feeds import Feed, read_mapping


@pytest.fixture(autouse=True)
def server(service: Service, ann: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Its address and a token are known, as after `tidings login`."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("TIDINGS_SERVER", service.address)
    monkeypatch.delenv("TIDINGS_TOKEN", raising=False)
    save_token(service.address, ann.token or "")
    return service


@pytest.fixture
def tidings() -> Tidings:
    """Runs a command in this process, with answers to its questions."""

    def run(*arguments: str, input: str = "") -> Result:
        result = CliRunner().invoke(app, list(arguments), input=input)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


def test_a_page_becomes_events_after_one_question(tidings: Tidings, site: Site, ann: Client) -> None:
    site.pages["/feed"] = (FORMATS / "quakes.geojson").read_bytes()
    done = tidings("feed", "add", f"{site.url}/feed", input="y\n")
    assert done.exit_code == 0, done.stderr
    assert "earthquakes (GeoJSON), 2 records; ready mapping 'earthquakes'" in done.stderr
    assert "schema: new event type earthquake" in done.stderr
    assert "feed: 2 records, 2 published" in done.stderr
    shown = [json.loads(line)["event"]["attributes"] for line in done.stdout.splitlines() if line.startswith("{")]
    assert [one["place"] for one in shown] == [[37.8, -122.4], [-17.5, 180]]
    near = list(ann.query("place near (37.8, -122.4) within 300 km and magnitude >= 4"))
    assert [one.event["id"] for one in near] == ["nc1/1777630000000"]
    assert Feed(read_mapping(Path("feed.toml")), ann).once().duplicates == 2  # it runs again as it is


def test_nothing_is_changed_without_an_answer(tidings: Tidings, ann: Client) -> None:
    version = ann.schema().version
    for answer, code, said in (("n\n", 0, "nothing was changed"), ("", 1, "use --yes to skip the question")):
        done = tidings("feed", "add", str(FORMATS / "boats.csv"), input=answer)
        assert (done.exit_code, said in done.stderr) == (code, True), done.stderr
    assert ann.schema().version == version
    assert not list(Path().iterdir())


def test_a_file_is_inferred_and_published_with_yes(tidings: Tidings, ann: Client) -> None:
    done = tidings("feed", "add", str(FORMATS / "boats.csv"), "--event-type", "boat", "--yes")
    assert done.exit_code == 0, done.stderr
    assert "a table (CSV), 2 records; mapping inferred" in done.stderr
    assert "boats: 2 records, 2 published" in done.stderr
    shown = json.loads(done.stdout.splitlines()[0])["event"]
    assert shown["source"] == "boats", "as it is published"
    again = tidings("feed", "add", str(FORMATS / "boats.csv"), "--yes")
    assert again.exit_code == 1
    assert (
        "boats.toml exists; choose another file with --mapping, or run it with `tidings feed run boats.toml`"
        in again.stderr
    )


def test_who_may_not_change_the_schema_is_told_how_to_go_on(
    tidings: Tidings,
    ann: Client,
    service: Service,
) -> None:
    with Client(service.address) as publisher:
        token = publisher.log_in("ann", "correct horse battery", scopes=["publish", "read"])
    done = tidings("feed", "add", str(FORMATS / "news.rss"), "--yes", "--token", token)
    assert done.exit_code == 1
    assert "`tidings feed infer news.toml --apply`, then run `tidings feed run news.toml`" in done.stderr
    assert Path("news.toml").exists()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "it is empty"),
        (b"<html><body><p>Log in first.</p></body></html>", "--records"),
        (b"{]", "not valid JSON"),
        (b"caf\xe9,b\n1,2\n", "--encoding"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(tidings: Tidings, site: Site, body: bytes, said: str) -> None:
    site.pages["/x"] = body
    done = tidings("feed", "add", f"{site.url}/x", "--yes")
    assert done.exit_code == 1
    assert said in done.stderr
    assert not list(Path().iterdir())


def test_a_missing_page_and_a_missing_file(tidings: Tidings, site: Site) -> None:
    gone = tidings("feed", "add", f"{site.url}/gone", "--yes")
    assert (gone.exit_code, "it answered 404" in gone.stderr) == (1, True)
    assert tidings("feed", "add", "nowhere.csv", "--yes").exit_code == 2


def test_paths_of_categories_grow_node_by_node(ann: Client) -> None:
    rows = [
        {"id": "1", "c": ["Shoes"]},
        {"id": "2", "c": ["Clothing", "Shoes"]},
        {"id": "3", "c": ["Clothing", "Hats"]},
    ]
    Path("d.json").write_text(json.dumps(rows))
    Path("m.toml").write_text(
        'file = "d.json"\nevent_type = "ware"\nid = "id"\n[fields.shelf]\nfrom = "c"\nkind = "hierarchical"\n'
        "path = true\ngrow = true\n"
    )
    from tidings.feeds.inference.infer import propose
    from tidings.feeds.inference.schema_changes import changes

    mapping = read_mapping(Path("m.toml"))
    for change in changes(propose(mapping, []).catalog, ann.schema()):
        ann.grow(change)
    done = Feed(mapping, ann).once()
    assert (done.published, done.appended, done.refused) == (3, 4, 0)
    domain = ann.schema().domain("shelf")
    assert domain is not None
    assert domain.hierarchy.nodes == ("Shoes", "Clothing", "Clothing > Shoes", "Clothing > Hats")

    Path("d.json").write_text(json.dumps([{"id": "4", "c": ["Hats"]}]))  # not the one below Clothing
    assert Feed(mapping, ann).once().appended == 1
    domain = ann.schema().domain("shelf")
    assert domain is not None
    assert domain.hierarchy.nodes[-1] == "Hats"


def test_a_folder_becomes_events_of_all_its_files(tidings: Tidings, ann: Client) -> None:
    stories = Path("stories/2026")
    stories.mkdir(parents=True)
    for n in range(30):
        story = {"id": f"s{n}", "title": f"Story {n}", "place": {"city": ("Bonn", "Rome")[n % 2]}}
        (stories / f"{n}.json").write_text(json.dumps(story if n < 29 else {**story, "late": 7}))
    (stories / "README.md").write_text("stories")
    done = tidings("feed", "add", "stories", "--yes")
    assert done.exit_code == 0, done.stderr
    assert "stories: 30 of 31 files match '**/*.json'; the others are left out" in done.stderr
    assert "JSON, 30 records; mapping inferred" in done.stderr
    assert "event type: stories; id: id" in done.stderr
    assert "stories: 30 records, 30 published" in done.stderr
    assert [one.event["id"] for one in ann.query("late = 7")] == ["s29"]
    assert len(list(ann.query("place_city = 'Bonn'"))) == 15
    assert 'pattern = "**/*.json"' in Path("stories.toml").read_text()
    (stories / "new.json").write_text('{"id": "s30", "title": "New", "place": {"city": "Oslo"}}')
    assert "1 published" in tidings("feed", "run", "stories.toml", "--once").stderr


def test_a_folder_of_tables_and_what_is_wrong_with_one_of_them(tidings: Tidings) -> None:
    folder = Path("tables")
    folder.mkdir()
    for month in range(1, 4):
        rows = "".join(f"{month}-{n},{n}\n" for n in range(10))
        (folder / f"{month}.csv").write_text(("no,sold\n" if month < 3 else "no,price\n") + rows)
    done = tidings("feed", "infer", "tables", "--mapping", "t.toml")
    assert done.exit_code == 0, done.stderr
    assert "3.csv: no column 'sold'; the first line has ['no', 'price']" in done.stderr
    assert "from 20 records" in done.stderr
    again = tidings("feed", "infer", "t.toml")
    assert "3.csv: no column 'sold'" in again.stderr
    assert "from 20 records" in again.stderr
    Path("empty").mkdir()
    assert "empty: nothing to read" in tidings("feed", "infer", "empty").stderr
    assert "'nowhere' is neither a file, a folder nor a URL" in tidings("feed", "infer", "nowhere").stderr

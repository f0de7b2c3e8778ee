"""The README, the tutorial and the pages of tasks, done as they stand there: real services, pipelines, receivers."""

from __future__ import annotations

import json
import subprocess
import time
from http.client import HTTPConnection
from pathlib import Path

import psycopg
import pytest
from pyspark.sql import SparkSession

from tests.docs.pages import PAGES, ROOT, page_blocks
from tests.docs.story import PATIENCE, Story
from tests.pipeline.conftest import spark, with_kafka  # noqa: F401  # fixtures
from tests.pipeline.test_kafka import broker, send  # noqa: F401  # a fixture
from tests.services.kafka import Broker, connector
from tests.services.missing import need
from tests.services.postgresql import postgresql
from tidings.pipeline.ingest.kafka_source import JARS

pytestmark = pytest.mark.slow
README, DOCS = ROOT / "README.md", ROOT / "docs"
HOW_TO = DOCS / "how-to"

# Pages that need nothing but themselves.
ALONE = (
    "back-test", "back-up", "grow-the-schema", "receive-webhooks", "run-apart", "two-sites", "write-a-mapping",
)  # fmt: skip
# Pages with tests of their own below, or elsewhere.
OTHERS = {
    "README.md", "docs/tutorial.md", "docs/how-to/replay-deliveries.md", "docs/how-to/postgresql.md",
    "docs/how-to/kafka-and-folders.md", "docs/reference/api.md", "docs/reference/scopes.md",
    "docs/reference/xml.md",
    "docs/how-to/spark-cluster.md",  # test_spark_cluster.py
    "docs/how-to/real-files.md",  # test_real_files.py
    "docs/client.md",  # tests/client/test_guide.py
    "docs/how-to/use-from-typescript.md",  # tests/service/contract/test_clients.py
    "docs/feeds.md",  # tests/feeds/test_guide.py
    "docs/gallery.md",  # tests/docs/test_gallery.py
    "docs/commands.md", "docs/performance.md",  # test_parsed.py
}  # fmt: skip


def receiver_of(page: Path) -> str:
    """The file `receiver.py` that a page shows."""
    (found,) = (block.text for block in page_blocks(page) if block.text.startswith("# receiver.py\n"))
    return found


def test_every_page_with_a_script_is_told() -> None:
    told = OTHERS | {f"docs/how-to/{name}.md" for name in ALONE}
    scripted = {
        str(page.relative_to(ROOT)) for page in PAGES for block in page_blocks(page) if block.language in ("sh", "py")
    }
    assert scripted <= told
    assert {f"docs/how-to/{name}.md" for name in ALONE} <= scripted


@pytest.mark.parametrize("name", ALONE)
def test_how_to(name: str, tmp_path: Path) -> None:
    with Story(tmp_path) as story:
        for block in page_blocks(HOW_TO / f"{name}.md"):  # files first: a command may stand above the file it reads
            story.save(block)
        story.tell(HOW_TO / f"{name}.md")


def test_readme_receives_a_webhook_and_believes_no_other(tmp_path: Path) -> None:
    with Story(tmp_path) as story:
        story.open("make run")
        story.tell(README)
        notified = story.told[-3]  # of `tidings notifications`
        assert '"make": "Porsche"' in notified
        receiver = story.terminals[-1]
        deadline = time.monotonic() + PATIENCE
        while "'headline'" not in receiver.printed:  # the event, as Python prints it
            assert time.monotonic() < deadline, receiver.printed
            time.sleep(0.2)
        assert _post(story.ports[8099], {}) == 401
        forged = {"webhook-id": "1.s", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,bm8="}
        assert _post(story.ports[8099], forged) == 401


def test_tutorial(tmp_path: Path) -> None:
    with Story(tmp_path) as story:
        (tmp_path / "receiver.py").write_text(story.here(receiver_of(README)), encoding="utf-8")
        story.tell(DOCS / "tutorial.md")
        receiver = story.terminals[1]
        assert "'headline': 'Porsche 944, one owner'" in receiver.printed


def test_replaying(tmp_path: Path) -> None:
    with Story(tmp_path) as story:
        receiver = receiver_of(HOW_TO / "receive-webhooks.md")
        (tmp_path / "receiver.py").write_text(story.here(receiver), encoding="utf-8")
        story.tell(HOW_TO / "replay-deliveries.md")
        assert "'title': 'Red Mini, one owner'" in story.terminals[-1].printed


def test_http_and_xml_from_the_shell(tmp_path: Path) -> None:
    need("nc", "netcat-openbsd")
    with Story(tmp_path) as story:
        load = ["tidings", "journal", "load", "--data", "data", "--schema", "examples/schema.json"]
        subprocess.run(load, cwd=tmp_path, env=story.environ(), check=True, capture_output=True)
        story.open("tidings serve --data data")
        story.wait_until_running()
        story.tell(DOCS / "reference" / "api.md")
        story.tell(DOCS / "reference" / "scopes.md")
        story.tell(DOCS / "reference" / "xml.md")


def test_postgresql(tmp_path: Path) -> None:
    with postgresql() as server, Story(tmp_path) as story:
        (made,) = (block.text for block in page_blocks(HOW_TO / "postgresql.md") if block.language == "sql")
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:  # where 'tidings' is taken
            for statement in made.replace("tidings", "tidings_of_docs").split(";"):
                if statement.strip():
                    connection.execute(statement)
        story.replaced["postgresql://tidings@127.0.0.1:5432/tidings"] = server.database()
        story.tell(HOW_TO / "postgresql.md")


def test_kafka_and_folders(with_kafka: SparkSession, broker: Broker, tmp_path: Path) -> None:  # noqa: F811
    topic = broker.topic()
    sold = {"title": "Oak desk", "price": 150, "category": "desk", "ends": "2026-05-03"}
    send(with_kafka, broker, topic, [json.dumps({"id": "k1", "event_type": "auction", "attributes": sold})])
    here = {"kafka://127.0.0.1:9092/auctions": f"kafka://{broker.servers}/{topic}"}
    with Story(tmp_path, here, {JARS: str(connector())}) as story:
        story.tell(HOW_TO / "kafka-and-folders.md")
        shown = ["tidings", "query", "category = desk", "--data", "data", "--json"]
        done = subprocess.run(shown, cwd=tmp_path, env=story.environ(), check=True, capture_output=True, text=True)
        assert '"id":"k1"' in done.stdout


def _post(port: int, headers: dict[str, str]) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("POST", "/", json.dumps({"event": {"id": "forged"}}), headers)
        return connection.getresponse().status
    finally:
        connection.close()

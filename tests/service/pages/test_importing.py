"""A file of subscriptions by the pages: looked at, then imported; and downloaded."""

import json

from tests.service.conftest import Service
from tests.service.pages.visitor import Visitor

MINE = "/pages/subscriptions"


def test_a_file_is_checked_shown_and_imported(service: Service, ann: Visitor) -> None:
    ann.get(MINE)
    ann.get(next(one.get("href") for one in ann.tree.iter("a") if one.text == "Import"))
    text = '{"filter": "brand = mini", "name": "Minis"}\n{"filter": "brandy = mini"}\n'
    ann.submit(f"{MINE}/import", lines=text)
    assert "1 subscription will be imported. 1 line cannot be imported. Nothing is stored yet." in ann.text
    assert "No attribute 'brandy'; did you mean 'brand'?" in ann.text
    assert service.store.subscriptions("ann") == []
    ann.submit(f"{MINE}/import", confirm="1")
    assert "1 subscription imported. 1 line was refused." in ann.text
    (made,) = service.store.subscriptions("ann")
    assert (made.name, made.filter) == ("Minis", "brand = 'mini'")
    ann.get(MINE)
    file = ann.client.get(next(one.get("href") for one in ann.tree.iter("a") if one.text == "Export"))
    assert file.headers["content-disposition"] == 'attachment; filename="subscriptions.jsonl"'
    assert json.loads(file.text) == {"id": made.id, "filter": "brand = 'mini'", "name": "Minis"}

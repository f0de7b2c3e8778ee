"""The table of figures, as /metrics tells them of itself."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from generated.part import table
from generated.served import metrics_text
from tidings.service import metrics
from tidings.store import DeliveryFigures


def written() -> str:
    members: dict[str, Any] = {of.name: 0 for of in fields(DeliveryFigures)} | {"kind": "webhook"}
    # An empty store has none.
    text = metrics_text() + metrics.written(metrics.delivery_families([DeliveryFigures(**members)])).decode()
    kinds = dict(re.findall(r"^# TYPE (\S+) (\w+)$", text, re.MULTILINE))
    rows = []
    for name, told in dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE)).items():
        labels = re.findall(rf"^{name}(?:_bucket)?{{(.*?)}} ", text, re.MULTILINE)
        names = dict.fromkeys(label for row in labels for label in re.findall(r'(\w+)="', row) if label != "le")
        rows.append((f"`{name}`", kinds[name], ", ".join(f"`{label}`" for label in names), told))
    return table(["figure", "kind", "labels", "what"], rows)

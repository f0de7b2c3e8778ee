"""The file of examples, and a service of its own to record them with."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import msgspec

import tidings.service.api.documents as documents
from tests.service.conftest import SETTINGS, Service
from tests.service.contract.calls import make_all_calls
from tests.service.contract.recording import Recording
from tests.service.receiver import mail_sink, receiver
from tidings.service.api.documents.examples import FILE, Example

RECORDED = Path(documents.__path__[0]) / FILE


def recorded(folder: Path) -> Recording:
    """Every call, made anew to a real service with a real receiver of webhooks and of mails."""
    url = str(folder / "tidings.db")
    with receiver() as hook, mail_sink() as (sink, port):
        mail = replace(SETTINGS, smtp_host="127.0.0.1", smtp_port=port, mail_from="tidings@example.org")
        service = Service(url, replace(mail, store=url, data=folder, allow_loopback_webhooks=True))
        away = str(folder / "other.db")
        other = Service(away, replace(SETTINGS, store=away, data=folder))
        with ExitStack() as running:
            for one in (service, other):
                one.start()
                running.callback(one.stop)
            return make_all_calls(service, other, hook, sink)


def written(examples: dict[str, list[Example]]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(examples), indent=2) + b"\n"

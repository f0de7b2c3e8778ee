"""The commands by name. A command's module is imported when the command is asked for: the service must answer a second
after its start, and a small command should not wait for what the others need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

# In the order in which the help shows them.
HOMES = {
    "demo": "demo:demo",
    "serve": "serve:serve",
    "link": "server.link:app",
    "move": "server.move:move",
    "advertise": "server.advertise:advertise",
    "network": "server.network:network",
    "register": "server.accounts:register",
    "login": "server.accounts:login",
    "logout": "server.accounts:logout",
    "unregister": "server.accounts:unregister",
    "token": "server.tokens:app",
    "account": "store.operator_accounts:app",
    "publish": "server.publish:publish",
    "subscribe": "server.subscribe:subscribe",
    "edit": "server.subscribe:edit",
    "pause": "server.subscribe:pause",
    "resume": "server.subscribe:resume",
    "waiting": "server.subscribe:waiting",
    "unsubscribe": "server.subscribe:unsubscribe",
    "subscriptions": "server.subscriptions:app",
    "notifications": "server.notifications:notifications",
    "deliveries": "server.deliveries:deliveries",
    "replay-deliveries": "server.deliveries:replay_deliveries",
    "notices": "server.notices:notices",
    "simulate": "server.simulate:app",
    "feed": "files.feed:app",
    "match": "files.match:match",
    "explain": "files.explain:explain",
    "convert-filter": "files.convert_filter:convert_filter",
    "query": "store.query:query",
    "backtest": "store.backtest:backtest",
    "replay": "store.replay:replay",
    "pipeline": "store.pipeline:pipeline",
    "outbox": "store.outbox:outbox",
    "schema": "files.schema:app",
    "workload": "files.workload:workload",
    "journal": "store.journal:app",
    "clock": "store.clock:clock",
    "secrets": "store.secrets:secrets",
    "bench": "files.bench:app",
    "torture": "torture:torture",
}


class Commands(TyperGroup):
    """For `typer.Typer(cls=…)`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Loaded()  # type: ignore[assignment]  # nobody adds to it


class _Loaded(Mapping[str, Any]):
    """Each command as typer makes it of a function, or of an app with commands of its own."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            module, _, attribute = HOMES[name].partition(":")
            found = getattr(import_module(f"tidings.cli.{module}"), attribute)
            around = typer.Typer(rich_markup_mode=None)
            if isinstance(found, typer.Typer):
                around.add_typer(found, name=name)
            else:
                around.command(name)(found)
            self._made[name] = typer.main.get_group(around).commands[name]
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)

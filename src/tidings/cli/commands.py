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
    "register": "accounts:register",
    "login": "accounts:login",
    "logout": "accounts:logout",
    "unregister": "accounts:unregister",
    "token": "tokens:app",
    "account": "operator_accounts:app",
    "publish": "publish:publish",
    "subscribe": "subscribe:subscribe",
    "edit": "subscribe:edit",
    "pause": "subscribe:pause",
    "resume": "subscribe:resume",
    "unsubscribe": "subscribe:unsubscribe",
    "subscriptions": "subscribe:subscriptions",
    "notifications": "notifications:notifications",
    "deliveries": "deliveries:deliveries",
    "replay-deliveries": "deliveries:replay_deliveries",
    "notices": "notices:notices",
    "simulate": "simulate:simulate",
    "feed": "feed:app",
    "match": "match:match",
    "explain": "explain:explain",
    "query": "query:query",
    "backtest": "backtest:backtest",
    "replay": "replay:replay",
    "pipeline": "pipeline:pipeline",
    "outbox": "outbox:outbox",
    "schema": "schema:app",
    "workload": "workload:workload",
    "journal": "journal:app",
    "clock": "clock:clock",
    "secrets": "secrets:secrets",
    "bench": "bench:app",
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

"""The table of settings: names, defaults and what may be said from `Settings`; what each means is said here, or, for a
new one, by the comment beside it."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import typer

from generated.part import Stale, table
from tidings import settings
from tidings.cli.main import app
from tidings.settings import PREFIX, Settings

MEANINGS = {
    "data": "the data folder: store, plans, checkpoints, logs, keys",
    "host": "where to listen; 0.0.0.0 for every address of the machine",
    "port": "for HTTP; 0: any that is free",
    "xml_port": "for XML over TCP; 0: any that is free",
    "store": "`postgresql://user:password@host/database`; empty: SQLite in the data folder",
    "spark_master": "Spark's master; a cluster needs PostgreSQL",
    "pipeline": "match events here; false where `tidings pipeline` runs elsewhere",
    "outbox": "send what is owed from here; false where `tidings outbox` runs elsewhere",
    "registration": "whether anyone may make an account",
    "guests": "whether one may publish and grow the schema without a token",
    "extra_scopes": "what a new account has beside `publish`, `subscribe`, `read` and `account` (and `schema`, "
    "on loopback)",
    "largest_event": "bytes of one event, or of one XML request",
    "values_per_attribute": "different values that an attribute may have in one event; for `tidings pipeline` and "
    "`tidings journal load` too",
    "largest_body": "bytes of one request that is no stream of lines",
    "largest_stream": "bytes of a request that is a stream of lines",
    "subscriptions_per_owner": "that one account may leave standing",
    "requests_per_second": "of one caller with a token",
    "guest_requests_per_second": "of one address without a token",
    "connections": "open at once, HTTP and XML each",
    "streams": "server-sent events open at once, of those connections",
    "streams_per_owner": "server-sent events that one account may have open",
    "idle_seconds": "a peer that sends nothing for so long, in the middle of a request, is let go",
    "webhook_handshake": "`ask` whether the receiver wants it when a webhook is made, or `none`",
    "allow_loopback_webhooks": "for development: plain http too, but only to this machine",
    "retry_seconds": "between attempts to deliver, for a test: `0.5 2 10`; empty: the schedule of "
    "[notifying.md](../notifying.md)",
    "keep_events_days": "after so many days events that are matched and owed to nobody are removed, with their "
    "notifications; 0: they stay",
    "keep_deliveries_days": "after so many days what was delivered or given up is forgotten, with its log, and "
    "notices; and what is owed to a channel that was not resumed all that time is given up",
    "smtp_host": "the mail server that takes our mails; empty: there is no mail",
    "smtp_port": "its port",
    "smtp_user": "who we are to it, if it asks",
    "smtp_password": "the password for that",
    "smtp_security": "`none`, `starttls`, or `tls` from the first byte",
    "secret_keys": "by which secrets of channels are encrypted, the newest first; empty: the file `secrets.key` of the "
    "data folder",
    "mail_from": "`tidings@example.org` or `Tidings <tidings@example.org>`",
    "public_url": "where links in mails lead and others come in; empty: http://host:port",
    "apprise_schemes": "what an Apprise URL may begin with",
}


def table_rows() -> list[tuple[str, str, str, str, str, str]]:
    """Name, environment's variable, flag of `serve`, default, what may be said, meaning."""
    flags = _flags()
    comments = _comments()
    rows = []
    for one in fields(Settings):
        meaning = MEANINGS.get(one.name) or comments.get(one.name)
        if not meaning:
            raise Stale(f"the setting {one.name!r} has no meaning: give it a comment in settings.py")
        kind = settings._SPECIAL.get(one.name, str(one.type))
        expected = settings._EXPECTED[kind]
        default = str(one.default) if kind == "port" else shown(one.default)
        rows.append((one.name, PREFIX + one.name.upper(), flags.get(one.name, ""), default, expected, meaning))
    return rows


def written() -> str:
    return table(
        ["TOML key", "environment", "`tidings serve`", "default", "must be", "meaning"],
        (
            (f"`{name}`", f"`{variable}`", f"`{flag}`" if flag else "", default, expected, meaning)
            for name, variable, flag, default, expected, meaning in table_rows()
        ),
    )


def shown(default: object) -> str:
    """As a reader would say it: `16 MiB`, `100,000`, `true`."""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, int) and default >= 1 << 18 and default % 1024 == 0:
        for size, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
            if default % size == 0:
                return f"{default // size:,} {unit}"
    if isinstance(default, int | float):
        return f"{default:,g}" if isinstance(default, float) else f"{default:,}"
    if isinstance(default, tuple):
        return ", ".join(f"`{one}`" for one in default) or "none"
    if isinstance(default, str | Path):
        return f"`{default}`" if str(default) else "none"
    raise Stale(f"no way to show the default {default!r}")


def _flags() -> dict[str, str]:
    serve = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    return {one.name: "/".join([*one.opts, *one.secondary_opts]) for one in serve.params}


def _comments() -> dict[str, str]:
    """The comment on a field's own line."""
    text = Path(settings.__file__).read_text(encoding="utf-8")
    return {found[1]: found[2] for found in re.finditer(r"^    (\w+): .* = .*?  # (.+)$", text, re.MULTILINE)}

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
    "outbox": "send deliveries here; false where `tidings outbox` runs elsewhere",
    "registration": "whether anyone may create an account",
    "guests": "whether anyone may publish and grow the schema without a token",
    "extra_scopes": "scopes of a new account in addition to `publish`, `subscribe`, `read` and `account` (on loopback "
    "also `schema`)",
    "largest_event": "bytes of one event, or of one XML request",
    "values_per_attribute": "most values of one attribute in one event; also for `tidings pipeline` and "
    "`tidings journal load`",
    "largest_body": "bytes of one request that is not a stream of lines",
    "largest_stream": "bytes of a request that is a stream of lines",
    "subscriptions_per_owner": "most subscriptions of one account",
    "advertisements_per_owner": "most advertisements of one account, in a [network](../network.md)",
    "requests_per_second": "of one caller with a token",
    "guest_requests_per_second": "of one address without a token",
    "connections": "open at once, HTTP and XML each",
    "streams": "server-sent events open at once, of those connections",
    "streams_per_owner": "server-sent events that one account may have open",
    "idle_seconds": "close a connection that sends nothing for this long in the middle of a request",
    "webhook_handshake": "`ask` the receiver for consent when a webhook is created, or `none`",
    "allow_loopback_webhooks": "for development: plain http too, but only to this machine",
    "retry_seconds": "between attempts to deliver, for a test: `0.5 2 10`; empty: the schedule of "
    "[notifying.md](../notifying.md)",
    "keep_events_days": "remove events that are matched and delivered, with their notifications, after this "
    "many days; 0: never",
    "keep_deliveries_days": "remove finished deliveries with their attempts, and notices, after this many days; "
    "deliveries of a channel that was not resumed in that time are given up",
    "smtp_host": "the mail server; empty: no mail is sent",
    "smtp_port": "its port",
    "smtp_user": "the user name at the mail server, if it needs one",
    "smtp_password": "its password",
    "smtp_security": "`none`, `starttls`, or `tls` from the first byte",
    "secret_keys": "keys that encrypt channel secrets, newest first; empty: the file `secrets.key` of the data folder",
    "waiting_instances": "instances that may wait in one operator of a composite for each key; beyond it the oldest is "
    "dropped",
    "mail_from": "`tidings@example.org` or `Tidings <tidings@example.org>`",
    "public_url": "the public address, for links in mails; empty: http://host:port",
    "apprise_schemes": "allowed schemes of Apprise URLs",
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

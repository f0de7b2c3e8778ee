"""Secrets of channels in the database: sealed when they are written, opened when they are read (`tidings.vault`).

Sealed are webhook secrets, Apprise URLs, and answers kept for repeated requests, which may show a new secret. Whoever
opens the store without a vault, such as the pipeline, sees sealed text and seals nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, or_, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database
from tidings.store.tables import channels, kept_responses
from tidings.vault import PREFIX, SecretKeyMissing, Vault

_OPTION = "vault"  # of every connection
_NONE = "[]"
_AT_ONCE = 500  # rows in one transaction
_SEALED_URL = f'%"url":"{PREFIX}%'
_IS_SEALED = or_(channels.c.secrets.like(f"{PREFIX}%"), channels.c.settings.like(_SEALED_URL))
_IS_PLAIN = or_(
    (channels.c.secrets != _NONE) & channels.c.secrets.notlike(f"{PREFIX}%"),
    (channels.c.kind == "apprise") & channels.c.settings.notlike(_SEALED_URL),
)
_LOST = "the key that encrypts its secrets was lost; set the channel up again"


def use_vault(database: Database, vault: Vault) -> None:
    """From now on everything is sealed, also what was stored before. Makes the first key; raises SecretKeyMissing where
    something is sealed and there is none, WrongSecretKey where it was sealed by another."""
    with database.reading() as connection:
        row = connection.execute(select(channels).where(_IS_SEALED).limit(1)).first()
    if row is not None and not vault.has_key:
        raise SecretKeyMissing(vault.place)
    vault.make_key()
    database.engine.update_execution_options(**{_OPTION: vault})
    if row is not None:
        _opened(vault, row.kind, row.settings, row.secrets)
    reseal(database, only_plain=True)


def reseal(database: Database, only_plain: bool = False) -> int:
    """Seals all channels by the newest key, or those only that are stored in plain text; how many."""
    done = 0
    for keys in _pages(database, _IS_PLAIN if only_plain else or_(_IS_PLAIN, _IS_SEALED)):
        with database.writing("outbox") as connection:
            for subscription, owner in keys:
                mine = (channels.c.subscription == subscription) & (channels.c.owner == owner)
                row: Any = connection.execute(select(channels).where(mine)).one()
                settings, secrets = opened(connection, row.kind, row.settings, row.secrets)
                values = {
                    "settings": sealed_settings(connection, row.kind, settings),
                    "secrets": sealed_secrets(connection, secrets),
                }
                connection.execute(update(channels).where(mine).values(values))
                done += 1
    if not only_plain:  # answers kept for a day: a repeat asks for its secret again
        with database.writing("responses") as connection:
            connection.execute(kept_responses.delete().where(kept_responses.c.body.like(f"{PREFIX}%")))
    return done


def forget_sealed(database: Database) -> int:
    """Drops secrets whose key was lost; their channels are disabled until they are set again. How many."""
    values = {"secrets": _NONE, "settings": "{}", "state": "disabled", "reason": _LOST}
    with database.writing("outbox") as connection:
        webhooks = update(channels).where(channels.c.kind == "webhook", channels.c.secrets.like(f"{PREFIX}%"))
        others = update(channels).where(channels.c.kind != "webhook", _IS_SEALED)
        kept = {name: value for name, value in values.items() if name != "settings"}
        return connection.execute(webhooks.values(kept)).rowcount + connection.execute(others.values(values)).rowcount


def sealed_settings(connection: Connection, kind: str, settings: Mapping[str, Any]) -> str:
    vault, url = _vault(connection), settings.get("url")
    if vault is not None and kind == "apprise" and isinstance(url, str):
        settings = {**settings, "url": vault.seal(url)}
    return written(settings)


def sealed_secrets(connection: Connection, secrets: Sequence[tuple[str, Instant | None]]) -> str:
    return _sealed(connection, written(secrets)) if secrets else _NONE


def sealed_body(connection: Connection, body: str) -> str:
    return _sealed(connection, body) if body else body


def opened_body(connection: Connection, body: str) -> str:
    vault = _vault(connection)
    return body if vault is None else vault.open(body)


def opened(
    connection: Connection, kind: str, settings: str, secrets: str
) -> tuple[dict[str, Any], tuple[tuple[str, Instant | None], ...]]:
    """Settings and secrets as they were given."""
    return _opened(_vault(connection), kind, settings, secrets)


def written(value: object) -> str:
    return msgspec.json.encode(value, enc_hook=_plain).decode()


def _opened(
    vault: Vault | None, kind: str, settings: str, secrets: str
) -> tuple[dict[str, Any], tuple[tuple[str, Instant | None], ...]]:
    made: dict[str, Any] = msgspec.json.decode(settings)
    if vault is None:
        pairs = [] if secrets.startswith(PREFIX) else msgspec.json.decode(secrets)
    else:
        pairs = msgspec.json.decode(vault.open(secrets))
        if kind == "apprise" and isinstance(url := made.get("url"), str):
            made["url"] = vault.open(url)
    return made, tuple((secret, None if until is None else Instant(until)) for secret, until in pairs)


def _sealed(connection: Connection, text: str) -> str:
    vault = _vault(connection)
    return text if vault is None else vault.seal(text)


def _vault(connection: Connection) -> Vault | None:
    found: Vault | None = connection.get_execution_options().get(_OPTION)
    return found


def _pages(database: Database, which: Any) -> Iterator[list[tuple[str, str]]]:
    """Names of channels, some at a time, by subscription and owner."""
    query = select(channels.c.subscription, channels.c.owner).where(which)
    with database.reading() as connection:
        names = [(row.subscription, row.owner) for row in connection.execute(query)]
    for start in range(0, len(names), _AT_ONCE):
        yield names[start : start + _AT_ONCE]


def _plain(value: object) -> object:
    if isinstance(value, Instant):
        return int(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} cannot be written as JSON")

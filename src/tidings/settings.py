"""One frozen value with everything that can be set about the service, and where it comes from.

A flag wins over the environment (`TIDINGS_PORT`), which wins over a TOML file (`port = 8080`); what none of them says
has the default here. An unknown key is refused with the nearest legal one."""

from __future__ import annotations

import tomllib
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tidings.errors import Explained, TidingsError, shown, suggestion

PREFIX = "TIDINGS_"
# Read where they are needed.
LINK_SECRET = "TIDINGS_LINK_SECRET"  # between the service and its own process for links
ELSEWHERE = (
    "TIDINGS_CACHE", "TIDINGS_CLOCK_OFFSET_FILE", "TIDINGS_KAFKA_JARS", "TIDINGS_SERVER", "TIDINGS_TOKEN", LINK_SECRET,
)  # fmt: skip
SCOPES = ("publish", "subscribe", "read", "account", "schema", "operate")
FIRST_SCOPES = ("publish", "subscribe", "read", "account")  # of every new account
SMTP_SECURITY = ("none", "starttls", "tls")
HANDSHAKES = ("ask", "none")
LOG_FORMATS = ("text", "json")
MIB = 1 << 20
_LAST_PORT = 65_535
_KEY_BYTES = 32
_LONGEST_NAME = 60


class InvalidSetting(Explained, TidingsError):
    """Where it was set, its name, and what is wrong with it."""

    place: str
    name: str
    reason: str
    template = "{place}: {name!r} {reason}"


@dataclass(frozen=True, slots=True)
class Settings:
    data: Path = Path("data")
    name: str = ""  # of this server in a network of servers; empty: it works alone
    host: str = "127.0.0.1"
    port: int = 8080
    xml: bool = True  # whether XML over TCP is taken at all
    xml_host: str = "127.0.0.1"  # apart from `host`: tokens travel in the clear there, unless a certificate is given
    xml_port: int = 8090
    xml_certificate: str = ""  # a PEM file, with its chain; then XML is taken over TLS only
    xml_key: str = ""  # the PEM file of its key; empty: it is in the same file
    store: str = field(default="", repr=False)  # a URL, maybe with a password; empty: SQLite in the data folder
    spark_master: str = "local[2]"
    log_format: str = "text"  # or json, of every process
    pipeline: bool = True  # false: it runs elsewhere
    outbox: bool = True  # the same
    registration: bool = True  # anyone may create an account
    showcase: bool = False  # show the newest events and example filters on the home page to visitors without an account
    guests: bool = False  # whoever has no token may publish and grow the schema
    extra_scopes: tuple[str, ...] = ()  # what a new account has beside publish, subscribe, read and account
    largest_event: int = MIB // 4  # bytes
    values_per_attribute: int = 1_000  # different ones in one event
    largest_body: int = 16 * MIB  # of one request that is not a stream of lines
    largest_stream: int = 1024 * MIB
    subscriptions_per_owner: int = 100_000
    advertisements_per_owner: int = 100
    requests_per_second: int = 20_000  # of one caller
    guest_requests_per_second: int = 100  # of one address without a token
    connections: int = 4_000  # at once, HTTP and XML each; a quarter of them from one address, or of one account
    bytes_in_flight: int = 256 * MIB  # of large bodies; a quarter of them of one account, 1/16 of an unknown address
    trusted_proxies: tuple[str, ...] = ()  # addresses or networks whose X-Forwarded-For or Forwarded is believed
    streams: int = 2_000  # open at once, of those connections
    streams_per_owner: int = 100
    idle_seconds: float = 30.0  # a peer that sends nothing for so long, in the middle of a request, is let go
    webhook_handshake: str = "ask"  # whether the receiver wants it, when a webhook is made; or none
    allow_loopback_webhooks: bool = False  # for development: also http, but only to this machine
    retry_seconds: tuple[float, ...] = ()  # between attempts to deliver; none: 5 s, 5 min, … 24 h, as is documented
    keep_events_days: int = 0  # then those that are matched and not owed go, with their notifications; 0: they stay
    keep_keys_days: int = 0  # of removed events, by which duplicates are known; 0: they stay
    keep_dead_letters_days: int = 90  # events of files and streams that were refused; 0: they stay
    # Then what was delivered or given up is forgotten, with its log, and notices; and what is owed to a channel that
    # was not resumed all that time is given up.
    keep_deliveries_days: int = 30
    link_filters: int = 1_000  # filters in one interest; where there are more, some are merged into wider ones
    link_revival_seconds: float = 10.0  # of answers, before a link between servers is used
    repair_seconds: float = 30.0  # after which another server is asked again for what was missed
    lateness: float = 10.0  # seconds by which an event may come after younger ones and still take part in composites
    waiting_instances: int = 10_000  # of one operator of a composite, for each key; the oldest beyond it are dropped
    smtp_host: str = ""  # the mail server that takes our mails; empty: no channel is an email
    smtp_port: int = 25
    smtp_user: str = ""
    smtp_password: str = field(default="", repr=False)
    smtp_security: str = "none"  # or starttls, or tls from the first byte
    secret_keys: tuple[str, ...] = field(default=(), repr=False)  # newest first; empty: a file
    mail_from: str = ""  # 'tidings@example.org' or 'Tidings <tidings@example.org>'
    hsts_seconds: int = 31_536_000  # for which browsers come by https only, where public_url is https; 0: not said
    public_url: str = ""  # where links in mails lead and others come in; empty: http://host:port
    # What subscribers may name in an Apprise URL. Of these none speaks plain HTTP to any host, none runs a command,
    # and none writes to this machine's desktop or log.
    apprise_schemes: tuple[str, ...] = ("ntfys", "slack", "discord", "tgram", "matrixs", "pover", "workflows")

    @property
    def duplicate_window_days(self) -> int | None:
        """For how long a second event of one source and id is known as a duplicate; None: for ever."""
        if not (self.keep_events_days and self.keep_keys_days):
            return None
        return max(self.keep_events_days, self.keep_keys_days)

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can come in: a public address means that a proxy leads others here."""
        if self.public_url:
            return False
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def links_lead_to(self) -> str:
        """The beginning of every link that leaves the house, without a slash at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def first_scopes(self) -> frozenset[str]:
        """Of a new account. Where only this machine can come in, a newcomer may try everything but operate."""
        return frozenset({*FIRST_SCOPES, *(("schema",) if self.on_loopback else ()), *self.extra_scopes})


def read_settings(flags: Mapping[str, object | None], environ: Mapping[str, str], file: Path | None = None) -> Settings:
    """Raises InvalidSetting. A flag of None was not given."""
    made: dict[str, Any] = {}
    if file is not None:
        made |= _from_file(file)
    for name, text in environ.items():
        if name.startswith(PREFIX) and name not in ELSEWHERE:
            made |= _one(f"the environment's {name}", name.removeprefix(PREFIX).lower(), text)
    for name, value in flags.items():
        if value is not None:
            made |= _one("flag", name, value)
    return Settings(**made)


def written_settings(settings: Settings) -> dict[str, str]:
    """As the environment has them: for a process that is to have the same."""
    return {f"{PREFIX}{one.name.upper()}": _written(getattr(settings, one.name)) for one in fields(Settings)}


def _written(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _from_file(file: Path) -> dict[str, Any]:
    try:
        read = tomllib.loads(file.read_text())
    except OSError as problem:
        raise InvalidSetting("settings", str(file), f"cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InvalidSetting("settings", str(file), f"is not valid TOML: {problem}") from None
    made: dict[str, Any] = {}
    for name, value in read.items():
        made |= _one(str(file), name, value)
    return made


def _one(place: str, name: str, value: object) -> dict[str, Any]:
    kinds = {one.name: str(one.type) for one in fields(Settings)}
    if name not in kinds:
        raise InvalidSetting(place, name, f"is not a setting{suggestion(name, tuple(kinds))}")
    kind = _SPECIAL.get(name, kinds[name])
    try:
        return {name: _READERS[kind](value)}
    except (ValueError, TypeError):
        raise InvalidSetting(place, name, f"must be {_EXPECTED[kind]}, got {shown(value)}") from None


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError
    number = int(value)
    if number < 0:
        raise ValueError
    return number


def _count(value: object) -> int:
    if not (number := _number(value)):
        raise ValueError
    return number


def _port(value: object) -> int:
    number = _number(value)
    if number > _LAST_PORT:
        raise ValueError
    return number


def _host(value: object) -> str:
    """An empty one would mean every address of this machine, which must be said in so many words."""
    if not (text := _text(value).strip()):
        raise ValueError
    return text


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    seconds = float(value)
    if not 0 < seconds < 1e9:
        raise ValueError
    return seconds


def _waits(value: object) -> tuple[float, ...]:
    numbers = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(numbers, list | tuple):
        raise TypeError
    return tuple(map(_seconds, numbers))


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if (word := _text(value).lower()) not in words:
        raise ValueError
    return words[word]


def _text(value: object) -> str:
    if not isinstance(value, str | Path):
        raise TypeError
    return str(value)


def _name(value: object) -> str:
    """Empty is none. It stands in addresses and in messages between servers."""
    text = _text(value).strip()
    if len(text) > _LONGEST_NAME or not all(one.isalnum() or one in ".-" for one in text) or not text.isascii():
        raise ValueError
    return text


def _scopes(value: object) -> tuple[str, ...]:
    names = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(name in SCOPES for name in names):
        raise ValueError
    return tuple(names)


def _security(value: object) -> str:
    if (word := _text(value).lower()) not in SMTP_SECURITY:
        raise ValueError
    return word


def _handshake(value: object) -> str:
    if (word := _text(value).lower()) not in HANDSHAKES:
        raise ValueError
    return word


def _log_format(value: object) -> str:
    if (word := _text(value).lower()) not in LOG_FORMATS:
        raise ValueError
    return word


def _url(value: object) -> str:
    """Kept without the slash at its end; empty is none."""
    text = _text(value).strip().rstrip("/")
    parts = urlsplit(text)
    plain = text.isascii() and text.isprintable() and not set(text) & set(' <>,"')  # it stands in a mail's header
    if text and not (plain and parts.scheme in ("http", "https") and parts.hostname):
        raise ValueError
    if parts.query or parts.fragment or parts.username is not None:
        raise ValueError
    return text


def _schemes(value: object) -> tuple[str, ...]:
    names = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name.isalnum() for name in names):
        raise ValueError
    return tuple(name.lower() for name in names)


def _keys(value: object) -> tuple[str, ...]:
    keys = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(keys, list | tuple):
        raise TypeError
    if not all(isinstance(key, str) and len(urlsafe_b64decode(key)) == _KEY_BYTES for key in keys):
        raise ValueError
    return tuple(keys)


def _networks(value: object) -> tuple[str, ...]:
    names = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        raise TypeError
    return tuple(str(ip_network(_text(name), strict=False)) for name in names)


_SPECIAL = {
    "name": "name",
    "link_filters": "count",
    "trusted_proxies": "networks",
    "port": "port",
    "xml_port": "port",
    "smtp_port": "port",
    "host": "host",
    "xml_host": "host",
    "values_per_attribute": "count",
    "waiting_instances": "count",
    "smtp_security": "security",
    "webhook_handshake": "handshake",
    "log_format": "log format",
    "public_url": "url",
    "apprise_schemes": "schemes",
    "secret_keys": "keys",
}
_READERS: dict[str, Any] = {
    "name": lambda value: _name(value),
    "Path": lambda value: Path(_text(value)),
    "str": _text,
    "int": _number,
    "count": _count,
    "port": _port,
    "host": _host,
    "float": _seconds,
    "bool": _flag,
    "tuple[str, ...]": _scopes,
    "tuple[float, ...]": _waits,
    "security": _security,
    "handshake": _handshake,
    "log format": _log_format,
    "url": _url,
    "schemes": _schemes,
    "keys": _keys,
    "networks": _networks,
}
_EXPECTED = {
    "name": "a name of letters, digits, dots and hyphens, at most 60",
    "Path": "a path",
    "str": "text",
    "int": "a whole number that is not negative",
    "count": "a whole number above 0",
    "port": f"a port, a whole number up to {_LAST_PORT} (0: any that is free)",
    "host": "an address or the name of one, such as 127.0.0.1 (0.0.0.0: every one of this machine)",
    "float": "a number of seconds above 0",
    "bool": "true or false",
    "tuple[str, ...]": f"a list of scopes, each one of {', '.join(SCOPES)}",
    "tuple[float, ...]": "a list of seconds, each above 0",
    "security": f"one of {', '.join(SMTP_SECURITY)}",
    "log format": f"one of {', '.join(LOG_FORMATS)}",
    "handshake": f"one of {', '.join(HANDSHAKES)}",
    "url": "an address such as https://tidings.example.org, without a name, a query or a fragment",
    "keys": "a list of keys, each 44 characters of URL-safe base64",
    "networks": "a list of addresses or networks such as 127.0.0.1 or 10.0.0.0/8",
    "schemes": "a list of Apprise's schemes such as ntfys or slack, without ://",
}

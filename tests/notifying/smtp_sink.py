"""A real SMTP server on loopback, which takes mails, refuses them, stalls or hangs up; and channels that send to it."""

from __future__ import annotations

import asyncio
import base64
import email
import email.policy
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from tests.services.missing import need
from tidings.notifying.channels.email_channel import EmailChannel
from tidings.notifying.delivery import Attempt, OutgoingDelivery, Owed
from tidings.schema import Instant
from tidings.settings import Settings

NOW = Instant.parse("2026-05-01T10:00:00Z")
KEY = b"k" * 32
TO = {"kind": "email", "address": "ann@example.org"}


@dataclass
class Sink:
    """A small SMTP server. `answers` gives, for a command, what is said instead of yes: each once, the last for good;
    'hang' says nothing any more, 'flood' never comes to an end, 'drop' hangs up."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    logins: list[str] = field(default_factory=list)
    mails: list[tuple[str, str, bytes]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    connections: int = 0
    encrypted: bool = False
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def _answer(self, command: str, usual: str) -> str:
        others = self.answers.get(command)
        if not others:
            return usual
        return others.pop(0) if len(others) > 1 else others[0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.add(writer)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, ssl.SSLError):
            pass  # the client hung up, as a client may
        finally:
            self.writers.discard(writer)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sender = recipient = ""

        async def say(command: str, usual: str) -> bool:
            answer = self._answer(command, usual)
            if answer == "hang":
                await reader.read()
            while answer == "flood":
                writer.write(b"250-more\r\n")
                await writer.drain()
                await asyncio.sleep(0.01)
            if answer in ("hang", "drop"):
                return False
            writer.write(answer.encode() + b"\r\n")
            await writer.drain()
            return True

        going = await say("greeting", "220 sink")
        while going and (line := (await reader.readline()).decode().rstrip("\r\n")):
            command = line.split(" ")[0].upper()
            self.commands.append(line)
            match command:
                case "EHLO" | "HELO":
                    going = await say("EHLO", "250-sink\r\n250-STARTTLS\r\n250 AUTH PLAIN")
                case "STARTTLS" if self.tls:
                    await say("STARTTLS", "220 go on")
                    await writer.start_tls(self.tls)
                    self.encrypted = True
                case "AUTH":
                    self.logins.append(base64.b64decode(line.split(" ")[2]).decode())
                    going = await say("AUTH", "235 welcome")
                case "MAIL":
                    sender = line[10:].split(">")[0].removeprefix("<")
                    going = await say("MAIL", "250 ok")
                case "RCPT":
                    recipient = line[8:].split(">")[0].removeprefix("<")
                    going = await say("RCPT", "250 ok")
                case "DATA":
                    if not (going := await say("DATA", "354 go on")) or self.answers.get("DATA"):
                        continue
                    data = await reader.readuntil(b"\r\n.\r\n")
                    answer = self._answer("body", "250 2.0.0 queued as 1")
                    if answer.startswith("250"):
                        self.mails.append((sender, recipient, data[:-5].replace(b"\r\n..", b"\r\n.")))
                    if answer == "drop":
                        return
                    writer.write(answer.encode() + b"\r\n")
                case "RSET":
                    going = await say("RSET", "250 ok")
                case "QUIT":
                    await say("QUIT", "221 bye")
                    return
                case _:
                    writer.write(b"502 what?\r\n")

    @property
    def last(self) -> EmailMessage:
        message = email.message_from_bytes(self.mails[-1][2], policy=email.policy.default)
        assert isinstance(message, EmailMessage)
        assert message.defects == []
        return message


@asynccontextmanager
async def channel_to(
    sink: Sink, *, server_tls: ssl.SSLContext | None = None, seconds: float = 30.0, **others: Any
) -> AsyncIterator[EmailChannel]:
    server = await asyncio.start_server(sink.serve, "127.0.0.1", 0, ssl=server_tls, limit=1 << 20)
    client_tls = others.pop("client_tls", None)
    connections = others.pop("connections", 4)
    settings = Settings(
        smtp_host=others.pop("smtp_host", "127.0.0.1"),
        smtp_port=server.sockets[0].getsockname()[1],
        mail_from="Tidings <tidings@example.org>",
        public_url="https://tidings.example",
    )
    channel = EmailChannel(replace(settings, **others), KEY, seconds=seconds, tls=client_tls, connections=connections)
    try:
        yield channel
    finally:
        await asyncio.to_thread(channel.close)
        server.close()
        for writer in tuple(sink.writers):
            writer.close()
        await asyncio.sleep(0)


def delivery(
    attributes: dict[str, Any] | None = None, id: str = "17.s1", filter: str = "price < 1300"
) -> OutgoingDelivery:
    event = {"id": "e1", "source": "a", "event_type": ["car"], "attributes": attributes or {"price": 900}}
    return OutgoingDelivery(id, "s1", "ann", filter, (Owed(id, 1, event, NOW),))


def sent(sink: Sink, *deliveries: OutgoingDelivery, to: dict[str, Any] | None = None, **others: Any) -> list[Attempt]:
    async def main() -> list[Attempt]:
        async with channel_to(sink, **others) as channel:
            return [await channel.send(one, to or TO, NOW) for one in deliveries or (delivery(),)]

    return asyncio.run(main())


def run(sink: Sink, work: Callable[[EmailChannel], Awaitable[Any]], **others: Any) -> Any:
    async def main() -> Any:
        async with channel_to(sink, **others) as channel:
            return await work(channel)

    return asyncio.run(main())


def self_made_certificate(folder: Path) -> Path:
    need("openssl", "openssl")
    made = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    subprocess.run(
        ["openssl", *how.split(), "-addext", "subjectAltName=DNS:localhost", *made],
        check=True,
        capture_output=True,
    )
    return folder


def server_side(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "certificate.pem", certificate / "key.pem")
    return context


def client_side(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate / "certificate.pem"))

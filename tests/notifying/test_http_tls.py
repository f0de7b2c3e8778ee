"""The sender with TLS: only the name that was vetted, by a certificate that somebody vouches for."""

import asyncio
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.notifying.http_receiver import (
    Receiver,
    post,
)
from tests.services.missing import need
from tidings.notifying.http.addresses import Target
from tidings.notifying.http.sender import HttpSender, SendingFailed


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for hook.example that signs itself, with its key, in one file."""
    need("openssl", "openssl")
    folder = tmp_path_factory.mktemp("certificate")
    key, made, both = folder / "key.pem", folder / "made.pem", folder / "both.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=hook.example"
    extensions = ["-addext", "subjectAltName=DNS:hook.example"]
    subprocess.run(
        [*command.split(), *extensions, "-keyout", str(key), "-out", str(made)], check=True, capture_output=True
    )
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return both


def served_by(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


def test_tls_with_the_name_that_was_vetted(certificate: Path) -> None:
    async def run() -> None:
        names: list[str | None] = []
        context = served_by(certificate)
        context.sni_callback = lambda socket, name, context: names.append(name)
        async with Receiver(tls=context) as receiver:
            sender = HttpSender(tls=ssl.create_default_context(cafile=certificate))
            for _ in range(3):
                assert (await post(sender, receiver, host="hook.example")).text == "ok"
            assert (names, receiver.connections) == (["hook.example"], 1)
            assert receiver.requests[0].headers["host"] == f"hook.example:{receiver.port}"
            with pytest.raises(SendingFailed, match=r"certificate is not valid: .*other.example"):
                await post(sender, receiver, host="other.example")
            await sender.close()

    asyncio.run(run())


def test_a_certificate_that_nobody_vouches_for(certificate: Path) -> None:
    async def run() -> None:
        async with Receiver(tls=served_by(certificate)) as receiver:
            sender = HttpSender()
            with pytest.raises(SendingFailed, match="its certificate is not valid: self-signed certificate"):
                await post(sender, receiver, host="hook.example")
            assert receiver.requests == []
            assert sender.open_connections == 0

    asyncio.run(run())


def test_what_does_not_speak_tls() -> None:
    async def run() -> None:
        def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"220 hello\r\n")
            writer.close()

        async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            target = Target("https", "hook.example", port, "/", ("127.0.0.1",))
            with pytest.raises(SendingFailed, match=r"TLS failed: .*wrong version number"):
                await HttpSender(seconds=5).send(target, "POST", [])

    asyncio.run(run())

"""Links over TLS to a server whose certificate an authority of one's own has signed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.notifying.smtp_sink import self_made_certificate, server_side
from tests.service.conftest import SETTINGS, Service, on_sqlite
from tests.service.networked import linked, networked, operator


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
    writer.close()


@contextmanager
def over_tls(service: Service, certificate: Path) -> Iterator[str]:
    """The address of a proxy before the service."""

    async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", service.port)
        await asyncio.gather(_copy(reader, back), _copy(there, writer), return_exceptions=True)

    async def begin() -> asyncio.Server:
        return await asyncio.start_server(passed_on, "127.0.0.1", 0, ssl=server_side(certificate))

    server = asyncio.run_coroutine_threadsafe(begin(), service.loop).result(60)
    try:
        yield f"https://localhost:{server.sockets[0].getsockname()[1]}"
    finally:
        service.loop.call_soon_threadsafe(server.close)


@on_sqlite
def test_a_link_to_a_server_behind_a_private_authority(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    certificate = self_made_certificate(tmp_path)
    url = str(tmp_path / "berlin.db")
    berlin = Service(url, replace(SETTINGS, store=url, data=tmp_path))
    berlin.start()
    try:
        with (
            over_tls(service, certificate) as address,
            networked(service, "athens"),
            networked(berlin, "berlin") as network,
        ):
            here, there = operator(berlin), operator(service)
            invitation = there.post("/v1/network/invitations").json() | {"url": address}
            refused = here.post("/v1/network/links", json=invitation)
            assert refused.status_code == 422
            assert "certificate verify failed" in refused.json()["detail"]
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate.pem"))
            linked(here, there, invitation)  # for that, messages must pass, too
            (link,) = here.get("/v1/network").json()["links"]
            assert (link["url"], link["state"], network.name) == (address, "alive", "berlin")
    finally:
        berlin.stop()

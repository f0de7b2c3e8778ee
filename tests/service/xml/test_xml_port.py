"""Where XML is taken: nowhere, on loopback, or over TLS."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from tests.notifying.smtp_sink import client_side, self_made_certificate
from tests.service.served import Served as Process
from tests.service.xml_served import CAR, SETTINGS, Client, served
from tests.services.sqlite import new_store
from tidings.service.listening import xml_certificate
from tidings.settings import InvalidSetting, Settings, read_settings
from tidings.store import Store


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_made_certificate(tmp_path_factory.mktemp("certificate"))


def test_it_is_on_loopback_wherever_http_is() -> None:
    assert read_settings({"host": "0.0.0.0"}, {}).xml_host == "127.0.0.1"


def test_over_tls_nothing_is_said_in_the_clear(tmp_path: Path, certificate: Path) -> None:
    settings = replace(
        SETTINGS, xml_certificate=str(certificate / "certificate.pem"), xml_key=str(certificate / "key.pem")
    )
    context = xml_certificate(settings)
    assert context is not None
    with served(str(tmp_path / "tidings.db"), settings, certificate=context) as daemon:
        token = daemon.join("ann")
        plain = Client(daemon.port)
        plain.send(CAR.format(token=token, more=""))
        assert plain.answer() is None
        plain.close()
        with (
            socket.create_connection(("127.0.0.1", daemon.port), 30) as bare,
            client_side(certificate).wrap_socket(bare, server_hostname="localhost") as wrapped,
        ):
            wrapped.sendall(CAR.format(token=token, more="").encode())
            assert wrapped.recv(1 << 12).startswith(b'<OK request="PUBLISH_EVENT"')
            wrapped.sendall(b"<no xml at all")
            wrapped.sendall(b"><<")
            assert b"<ERROR" in wrapped.recv(1 << 12)


def test_a_certificate_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="'xml_certificate' cannot be used"):
        xml_certificate(Settings(xml_certificate=str(tmp_path / "none.pem")))
    assert xml_certificate(Settings(xml=False, xml_certificate="none.pem")) is None


@pytest.mark.slow
@pytest.mark.parametrize("xml", ["false", "true"])
def test_it_can_be_off(tmp_path: Path, xml: str) -> None:
    """Without XML the service does not need the XML port, which another program has here."""
    Store.open(new_store(tmp_path / "tidings.db")).close()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        process = Process(tmp_path, "--no-pipeline", "--no-outbox", "--xml-port", port, TIDINGS_XML=xml)
        try:
            assert process._ready.wait(120)
            if xml == "true":
                assert f"port {port} of 127.0.0.1 is in use" in process.wait_for_errors()
                return
            assert "Tidings is at http://127.0.0.1:" in process.lines[0]
            assert "XML" not in process.lines[0]
        finally:
            process.kill()
            process.wait()

"""The service as one running thing: store, gateway, HTTP and XML in one event loop, pipeline and outbox as children.

`tidings serve` calls `serve`, which returns after a signal. The gateway answers as soon as it listens; Spark comes up
beside it and events wait in the journal until then.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import uvloop

from tidings.errors import Explained, ServiceError
from tidings.logs import logged
from tidings.pipeline.folder import locked
from tidings.service.door.callers import digest_of, new_token
from tidings.service.gateway import Gateway
from tidings.service.http import make_app
from tidings.service.http_server import HttpServer, configuration
from tidings.service.listening import explained, listening, make_room, xml_certificate
from tidings.service.network import Network
from tidings.service.workers.children import Child, Companion, network_child, outbox_child, pipeline_child
from tidings.service.workers.status import ChildStatus
from tidings.service.workers.supervisor import Supervisor
from tidings.service.xml.daemon import XmlDaemon
from tidings.settings import Settings
from tidings.store import Retention, RetentionDays, Store
from tidings.vault import vault_of

if TYPE_CHECKING:
    pass

_log = logging.getLogger(__name__)
_OTHER_FILES = 1_000  # beside connections of peers


class AlreadyServed(Explained, ServiceError):
    folder: str
    process: str
    template = "a service already runs on {folder} ({who}); stop it, or choose another folder with --data"

    @property
    def who(self) -> str:
        return f"process {self.process}" if self.process else "another process"


def serve(settings: Settings, say: Callable[[str], None], companions: Sequence[Companion] = ()) -> None:
    """Until SIGINT or SIGTERM; a second one ends it at once. Companions are further children, looked after likewise.

    Raises AlreadyServed, PortTaken, CannotListen, LocalStoreOnly, InvalidSetting or StoreError before anything is
    accepted.
    """
    _check_master(settings)
    _check_mail(settings)
    certificate = xml_certificate(settings)
    make_room(2 * settings.connections + _OTHER_FILES)
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)  # with everybody's events and token digests
    with (
        logged("gateway", settings.log_format),
        locked(settings.data / "serve.lock", lambda holder: AlreadyServed(str(settings.data), holder)),
        listening(settings.host, settings.port, "--port") as listener,
        Store.open(settings.store or settings.data / "tidings.db").use_vault(vault_of(settings)) as store,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        if settings.name:
            store.begin_incarnation(settings.name)  # before anything is accepted
        if changed := store.renew_text_versions():
            _log.warning("%s", changed)
        settings = replace(settings, port=listener.getsockname()[1])  # links in mails lead there
        further = [make(settings, store) for make in companions]
        runner.run(_serve(settings, store, listener, say, further, certificate))


async def _serve(
    settings: Settings,
    store: Store,
    listener: socket.socket,
    say: Callable[[str], None],
    further: Sequence[Child],
    certificate: ssl.SSLContext | None,
) -> None:
    gateway = Gateway(store, settings)

    def pipeline_is(status: ChildStatus) -> None:
        gateway.pipeline = status
        _note("pipeline", status)
        if status.state == "failed" and status.process is None:  # no Java, say: who started the service can fix that
            say(f"pipeline: {status.reason}")

    def outbox_is(status: ChildStatus) -> None:
        gateway.outbox = status
        _note("outbox", status)

    app = make_app(gateway)
    server, daemon = HttpServer(configuration(app, settings)), XmlDaemon(gateway)
    supervisors = [Supervisor(pipeline_child(settings, store), pipeline_is)] if settings.pipeline else []
    supervisors += [Supervisor(outbox_child(settings, store), outbox_is)] if settings.outbox else []
    if settings.name:
        network = gateway.network = Network(gateway, settings.name)
        child = network_child(settings, store, network.secret, network.client.is_at)

        def network_is(status: ChildStatus) -> None:
            network.status = status
            _note("network", status)

        supervisors.append(Supervisor(child, network_is))
    companions = [Supervisor(child, _teller(child.name, say)) for child in further]
    supervisors += companions
    stopped = _stopped_by_signal(supervisors)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(gateway.close)
        if gateway.network is not None:
            closing.push_async_callback(gateway.network.close)
        if not settings.pipeline:  # which would run it
            closing.enter_context(_retaining(settings, store))
        if settings.xml:
            with explained(settings.xml_host, settings.xml_port, "--xml-port"):
                await daemon.start(settings.xml_host, settings.xml_port, certificate)
        token = new_token()
        is_first = store.add_operator(digest_of(token))  # before anybody can take the name
        serving = asyncio.create_task(server.serve([listener]))
        try:
            await _first_of(serving, server.ready.wait())
            if server.started:
                _welcome(
                    settings,
                    listener.getsockname()[1],
                    daemon.port if settings.xml else None,
                    token if is_first else "",
                    say,
                )
                for supervisor in supervisors:
                    supervisor.start()
                await _first_of(serving, stopped.wait())
        finally:
            for companion in companions:  # first: they may be speaking to us
                await asyncio.to_thread(companion.stop)
            server.should_exit = True
            endings = (
                serving, daemon.close(), app.state.streams.close(), app.state.watching.close(),
                *(asyncio.to_thread(supervisor.stop) for supervisor in supervisors),
            )  # fmt: skip
            ended = await asyncio.gather(*endings, return_exceptions=True)
    for problem in ended:
        if isinstance(problem, BaseException):
            raise problem


@contextmanager
def _retaining(settings: Settings, store: Store) -> Iterator[None]:
    """Retention in a thread of its own."""
    keep = RetentionDays(settings.keep_events_days, settings.keep_keys_days, settings.keep_dead_letters_days)
    stopped = threading.Event()
    thread = threading.Thread(target=Retention(store, keep).run, args=(stopped,), name="retention", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


async def _first_of(serving: asyncio.Task[None], event: Coroutine[Any, Any, object]) -> None:
    """Until the event, or until the server has ended, which it does not do by itself unless something is wrong."""
    waiting = asyncio.create_task(event)
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


def _stopped_by_signal(supervisors: Sequence[Supervisor]) -> asyncio.Event:
    """Set at the first signal; at the second the process ends at once, and its children with it."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()

    def signalled(number: signal.Signals) -> None:
        if stopped.is_set():
            for supervisor in supervisors:
                supervisor.kill()
            os._exit(128 + number)
        stopped.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signalled, number)
    return stopped


def _note(name: str, status: ChildStatus) -> None:
    """In the log, once for each change of state."""
    if status.process is not None:
        return  # it has started, or tells how far it is
    if status.state == "waiting":
        _log.warning("%s: restarted; %s", name, status.reason)
    elif status.state == "failed":
        _log.error("%s: failed; %s", name, status.reason)


def _teller(name: str, say: Callable[[str], None]) -> Callable[[ChildStatus], None]:
    """No page shows the status of a companion, so it is reported to the terminal that started the service."""

    def tell(status: ChildStatus) -> None:
        _note(name, status)
        if status.state in ("waiting", "failed") and status.process is None:
            say(f"{name}: {status.reason}" + ("; started again" if status.state == "waiting" else ""))

    return tell


def _welcome(settings: Settings, port: int, xml_port: int | None, token: str, say: Callable[[str], None]) -> None:
    place = f"http://{_in_url(settings.host)}:{port}"
    if xml_port is not None:
        over = " over TLS" if settings.xml_certificate else ""
        place += f" and for XML{over} at {_in_url(settings.xml_host)}:{xml_port}"
    say(f"Tidings is at {place}; its data is in {settings.data}. Ctrl-C stops it.")
    if token:
        say(f"The operator's token, shown only once: {token}")
        say("It can do everything, including what no other account may do. Keep it where others cannot read it.")


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _check_master(settings: Settings) -> None:
    """Before anything is made; raises LocalStoreOnly."""
    in_file = "://" not in settings.store or settings.store.startswith("sqlite:")
    if settings.pipeline and in_file and not settings.spark_master.startswith("local"):
        from tidings.pipeline.spark.session import LocalStoreOnly

        raise LocalStoreOnly(settings.spark_master)


def _check_mail(settings: Settings) -> None:
    """Before anybody asks for a mail; raises InvalidSetting."""
    if settings.smtp_host:
        from tidings.notifying.channels.email_channel import EmailChannel  # with TLS, which loads slowly

        EmailChannel(settings, bytes(32)).close()

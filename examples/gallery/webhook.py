"""A webhook: the service calls your program when something matches, and your program believes only what is signed.

It starts a service of its own in a temporary folder, and a receiver that verifies each delivery (Standard Webhooks).
Two events are published and one matches; then somebody sends the same delivery again with another body.
"""

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from tempfile import TemporaryDirectory

import httpx

import tidings
from tidings.notifying.signatures import SignatureError, verify

SERVE = [sys.executable, "-m", "tidings", "serve", "--port", "0", "--xml-port", "0", "--data"]
DEVELOPING = {"TIDINGS_ALLOW_LOOPBACK_WEBHOOKS": "true"}  # else only https, and only to public addresses


class Receiver(BaseHTTPRequestHandler):
    secret, genuine, verified = "", dict[str, str](), threading.Event()

    def do_OPTIONS(self) -> None:  # the service asks first whether its calls are wanted
        self.answer(200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            verify(self.headers, body, self.secret, time.time())
        except SignatureError as problem:
            print(f"refused: {type(problem).__name__}")
            return self.answer(401)
        told = json.loads(body)
        print(f"verified: {told['event']['attributes']} matches {told['filter']}")
        self.genuine.update({name: value for name, value in self.headers.items() if "webhook-" in name})
        self.answer(200)
        self.verified.set()

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("WebHook-Allowed-Origin", "*")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


with TemporaryDirectory() as folder, HTTPServer(("127.0.0.1", 0), Receiver) as receiver:
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    hook = f"http://127.0.0.1:{receiver.server_port}/hook"
    service = subprocess.Popen([*SERVE, folder], stdout=subprocess.PIPE, text=True, env=os.environ | DEVELOPING)
    try:
        assert service.stdout  # it says: Tidings is at http://127.0.0.1:37561 and for XML at …
        with tidings.Client(service.stdout.readline().split()[3]) as client:
            client.register("ann", "correct horse")
            client.create_domain("money", "numeric")
            client.create_attribute("price", "money")
            client.create_event_type("offer", ["price"])
            Receiver.secret = client.subscribe("price < 1000", channel={"kind": "webhook", "url": hook}).secret or ""
            client.publish([{"event_type": "offer", "attributes": {"price": price}} for price in (1200, 900)])
            assert Receiver.verified.wait(300), client.ready()
        print("the forger is answered", httpx.post(hook, content=b"{}", headers=Receiver.genuine).status_code)
    finally:
        service.terminate()
        service.communicate()
        receiver.shutdown()

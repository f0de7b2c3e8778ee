"""What the demo's receiver answers, which decides what the pages of deliveries show."""

from __future__ import annotations

import httpx

from tidings.demo.receiver import Receiver


def test_each_path_has_its_manner() -> None:
    with Receiver() as receiver, httpx.Client(base_url=receiver.url, trust_env=False) as sender:
        asked = sender.request("OPTIONS", "/inbox", headers={"WebHook-Request-Origin": "127.0.0.1"})
        assert (asked.status_code, asked.headers["WebHook-Allowed-Origin"]) == (200, "*")
        assert [sender.post("/inbox", content=b"{}").status_code for _ in range(3)] == [200] * 3
        flaky = [sender.post("/flaky", content=b"{}").status_code for _ in range(10)]
        assert (flaky.count(500), flaky.count(200)) == (5, 5)
        assert sender.post("/gone", content=b"{}").status_code == 410
        assert sender.post("/inbox", content=iter([b"{}"])).status_code == 413  # of no known length


def test_a_port_that_is_taken() -> None:
    with Receiver() as first:
        with Receiver(first.port) as second:
            assert second.port != first.port
        port = second.port
    with Receiver(port) as third:
        assert third.port == port

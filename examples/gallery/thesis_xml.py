"""The thesis's XML over TCP from a bare socket: any language that can open a connection can speak it.

It starts a service of its own in a temporary folder. Over one connection the schema grows, ann subscribes, two boards
are published (a third breaks the rules), and the log says what matched. A request ends where its root element
ends, and each answer is one line. Only the account is made over HTTP: the thesis had none.
"""

import re
import subprocess
import sys
from socket import create_connection
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import tidings

SERVE = [sys.executable, "-m", "tidings", "serve", "--port", "0", "--xml-port", "0", "--data"]
GROWTH = """
<ADD_DOMAIN token="{token}"><DOMAIN name="material" type="enum" attr="wood, carbon, epox"/></ADD_DOMAIN>
<ADD_DOMAIN token="{token}"><DOMAIN name="money" type="numeric"/></ADD_DOMAIN>
<ADD_ATTRIBUTE token="{token}"><ATTR_DOM name="material" type="material"/></ADD_ATTRIBUTE>
<ADD_ATTRIBUTE token="{token}"><ATTR_DOM name="price" type="money"/></ADD_ATTRIBUTE>
<ADD_EVENT token="{token}"><E_TYPE type="surf-board"><E_ATTR type="price" mandatory="true" unique="true"/>
<E_ATTR type="material" mandatory="true" unique="true"/></E_TYPE></ADD_EVENT>
"""
SUBSCRIPTION = """
<PUBLISH_SUB username="ann" token="{token}"><EVENT_TYPE><VALUE type="surf-board" oper="contains"/></EVENT_TYPE>
<ATTRIBUTES><ATTR type="price" oper="lt">300</ATTR><ATTR type="material" oper="noteq">epox</ATTR></ATTRIBUTES>
</PUBLISH_SUB>
"""
BOARD = """
<PUBLISH_EVENT id="{0}" token="{{token}}"><EVENT_TYPE><VALUE type="surf-board"/></EVENT_TYPE>
<ATTRIBUTES><ATTR type="price">{1}</ATTR><ATTR type="material">{2}</ATTR></ATTRIBUTES></PUBLISH_EVENT>
"""
EVENTS = BOARD.format("b1", 250, "wood") + BOARD.format("b2", 450, "carbon") + BOARD.format("b3", "cheap", "wod")


def talk(client: tidings.Client, address: tuple[str, str]) -> None:
    token = client.register("ann", "correct horse")
    with create_connection(address) as connection, connection.makefile(encoding="utf-8") as answers:
        requests = (GROWTH + SUBSCRIPTION + EVENTS).format(token=token)
        connection.sendall(requests.encode())  # all at once: the answers come in the same order
        for _ in range(len(re.findall("</(ADD|PUBLISH)", requests))):
            print(answers.readline().rstrip())
        if not any(client.notifications(wait=30).items for _ in range(10)):  # Spark needs some seconds to start
            raise SystemExit(f"nothing was matched: {client.ready()}")
        connection.sendall(f'<LIST_EVENTS token="{token}"/>'.encode())
        for event in ElementTree.fromstring(answers.readline()).iter("PUBLISH_EVENT"):
            values = ", ".join(f"{one.get('type')} {one.text}" for one in event.iter("ATTR"))
            print(f"LIST_EVENTS: ann was told of {event.get('id')}, {values}")


with TemporaryDirectory() as folder:
    service = subprocess.Popen([*SERVE, folder], stdout=subprocess.PIPE, text=True)
    try:
        assert service.stdout  # it says: Tidings is at http://127.0.0.1:37561 and for XML at 127.0.0.1:37971; …
        said = service.stdout.readline().split()
        host, port = said[8].rstrip(";").split(":")
        with tidings.Client(said[3]) as client:
            talk(client, (host, port))
    finally:
        service.terminate()
        service.communicate()

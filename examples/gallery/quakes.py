"""Earthquakes: a feed reads a GeoJSON, and an asyncio program hears of some quakes by server-sent events.

It starts a service of its own in a temporary folder. The GeoJSON has the form of the USGS's feeds, with made-up quakes.
A mapping says which event each becomes: `feed infer --apply` grows the schema by it, `feed run` publishes.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory

import tidings

TIDINGS = [sys.executable, "-m", "tidings"]
SERVE = ["serve", "--port", "0", "--xml-port", "0", "--data"]
MAPPING = """
file = "quakes.json"
records = "/features"
event_type = "quake"
id = "id"
[fields]
magnitude = { from = "properties/mag", kind = "numeric", mandatory = true }
place = { from = "properties/place", kind = "text" }
depth = { from = "geometry/coordinates/2", kind = "numeric" }
tsunami = { from = "properties/tsunami", kind = "numeric" }
"""
PLACES = ("Kermadec Islands", "12 km S of Volos, Greece", "Off the coast of Honshu, Japan", "7 km NW of The Geysers")


def geojson(chance: random.Random) -> str:
    features = []  # few are strong: each whole magnitude more is ten times as rare; the last is a big one
    for number, magnitude in enumerate([round(2.5 + chance.expovariate(2.3), 1) for _ in range(200)] + [7.9]):
        properties = {"mag": magnitude, "place": PLACES[number % 4], "tsunami": int(magnitude > 6)}
        point = {"type": "Point", "coordinates": [179.1, -30.2, round(chance.expovariate(1 / 40), 1)]}
        features.append({"type": "Feature", "id": f"q{number}", "properties": properties, "geometry": point})
    return json.dumps({"type": "FeatureCollection", "features": features})


async def listen(url: str, folder: str) -> None:
    async with tidings.AsyncClient(url) as client:
        who = os.environ | {"TIDINGS_SERVER": url, "TIDINGS_TOKEN": await client.register("ann", "correct horse")}
        run = partial(asyncio.to_thread, partial(subprocess.run, cwd=folder, env=who, check=True, stdout=PIPE))
        await run([*TIDINGS, "feed", "infer", "quakes.toml", "--apply"])
        near = await client.subscribe("place contains 'greece' and magnitude between 4 and 4.9")
        await client.subscribe("magnitude >= 5 and depth < 70 or tsunami = 1")
        await run([*TIDINGS, "feed", "run", "quakes.toml", "--once"])
        async for told in client.follow():  # server-sent events; it would go on for ever
            quake = (told.event or {})["attributes"]
            why = "near" if told.subscription == near.id else "strong"
            print(f"{why:6}  M {quake['magnitude']:.1f}  {quake['depth']:5} km deep  {quake['place']}", flush=True)
            if quake["tsunami"]:
                return


with TemporaryDirectory() as folder:
    Path(folder, "quakes.toml").write_text(MAPPING, encoding="utf-8")
    Path(folder, "quakes.json").write_text(geojson(random.Random(11)), encoding="utf-8")
    service = subprocess.Popen([*TIDINGS, *SERVE, f"{folder}/data"], stdout=PIPE, text=True)
    try:
        assert service.stdout  # it says: Tidings is at http://127.0.0.1:37561 and for XML at …
        asyncio.run(asyncio.wait_for(listen(service.stdout.readline().split()[3], folder), timeout=300))
    finally:
        service.terminate()
        service.communicate()

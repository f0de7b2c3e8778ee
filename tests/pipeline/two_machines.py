"""What runs on the first of two machines: the store, the bucket, Spark's master and the pipeline. The second has a
worker, the wheel, and nothing else.

    python -m tests.pipeline.two_machines JSON

Started by test_cluster.py inside the first machine's network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import notifications_of, stored
from tests.services.machines import Machine, end
from tests.services.postgresql import postgresql
from tests.services.s3 import s3_bucket
from tests.services.wheel import ROOT
from tidings.pipeline.spark.location import location_of
from tidings.store import Store

PYTHON = "/opt/tidings/bin/python"  # another one on each machine
_CLASS = "lib/python3.11/site-packages/pyspark/bin/spark-class"
_PORT = 7077
PASSWORD = "two-machines-4711"


def main(folder: Path, here: Machine, there: Machine, jars: Path) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    with postgresql(host=here.address) as server, s3_bucket(host=here.address) as bucket:
        url = server.database().replace("127.0.0.1", here.address).replace("tidings@", f"tidings:{PASSWORD}@")
        settings = {
            **bucket.settings,
            "spark.driver.host": here.address,
            "spark.driver.bindAddress": here.address,
            "spark.executor.memory": "512m",
            "spark.jars": ",".join(f"/opt/jars/{path.name}" for path in sorted(jars.glob("*.jar"))),
            "spark.task.maxFailures": "8",
        }
        options = [part for pair in settings.items() for part in ("--spark", "=".join(pair))]
        own = {"PYSPARK_PYTHON": PYTHON, "SPARK_DAEMON_MEMORY": "256m"}
        master = f"spark://{here.address}:{_PORT}"
        try:
            with Store.open(url) as store:
                market = Market(seed=41)
                store.append(opening())
                store.append(list(market.drafts(500, changes=0.2)))
                spark = ["--host", here.address, "--port", str(_PORT), "--webui-port", "0"]
                processes.append(_spark(here, folder, own, "master", "org.apache.spark.deploy.master.Master", *spark))
                time.sleep(5)
                worker = ["--host", there.address, "--cores", "2", "--memory", "1g", "--webui-port", "0"]
                worker += ["--work-dir", "/tmp/work", master]
                name = "org.apache.spark.deploy.worker.Worker"
                processes.append(_spark(there, folder, own, "worker", name, *worker))
                command = [PYTHON, "-m", "tidings.cli.main", "pipeline", "--data", "/home/data", "--json"]
                command += ["--master", master, "--plans", f"{bucket.uri}/plans"]
                command += ["--checkpoints", f"{bucket.uri}/checkpoints", *options]
                with open(folder / "pipeline.log", "wb") as log:
                    env = own | {"TIDINGS_STORE": url, "PYTHONPATH": str(ROOT / "src")}
                    driver = here.start(*command, env=env, stdout=log, stderr=log)
                processes.append(driver)
                _until(lambda: store.committed() == store.tail(), driver, folder)
                for step in range(40):
                    store.append(list(market.drafts(50, changes=0.1)))
                    if step == 15:
                        assert _kill_executors(there), "there was an executor on the second machine"
                    time.sleep(0.1)
                _until(lambda: store.committed() == store.tail(), driver, folder)
                driver.terminate()
                assert driver.wait(90) == 0, (folder / "pipeline.log").read_text()
                assert stored(store) == notifications_of(store)
                assert len(stored(store)) > 1_000
            names = location_of(bucket.uri, bucket.settings.get).names()
            assert "plans/current.json" in names
            assert any(name.startswith("checkpoints/journal-") and "/offsets/" in name for name in names)
            assert list(there.root.glob("home/.cache/tidings/plans-*/pieces/*")), "fetched into the worker's cache"
            assert not (there.root / "home" / "data").exists(), "the driver's folder is out of its sight"
            print(json.dumps({"notifications": "as they must be", "objects": len(names)}))
        finally:
            for process in reversed(processes):
                end(process)


def _spark(machine: Machine, folder: Path, env: dict[str, str], name: str, *command: str) -> subprocess.Popen[bytes]:
    with open(folder / f"{name}.log", "wb") as log:
        return machine.start(f"/opt/tidings/{_CLASS}", *command, env=env, stdout=log, stderr=log)


def _kill_executors(machine: Machine) -> bool:
    """SIGKILL to every executor of the machine; its worker starts others."""
    found = False
    for process in Path("/proc").glob("[0-9]*"):
        try:
            there = os.readlink(process / "root") == str(machine.root)
            if there and b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes():
                os.kill(int(process.name), 9)
                found = True
        except OSError:
            continue  # it has ended
    return found


def _until(condition: Callable[[], bool], process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + 240
    while not condition():
        assert process.poll() is None, (folder / "pipeline.log").read_text()
        assert time.monotonic() < deadline, (folder / "pipeline.log").read_text()[-20_000:]
        time.sleep(0.2)


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    both = [
        Machine(one["namespace"], one["address"], Path(one["root"]), {at: Path(of) for at, of in one["given"].items()})
        for one in told["machines"]
    ]
    main(Path(told["folder"]), both[0], both[1], Path(told["jars"]))

"""What the README says of the service works as it stands there: the `sh` and `py` blocks, in their order, against a
real `tidings serve` with its pipeline."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks
from tests.service.served import Served

pytestmark = pytest.mark.slow
README = ROOT / "README.md"


def of_readme(language: str) -> list[str]:
    return [block.text for block in blocks(language) if block.page == README]


@pytest.mark.skipif(not shutil.which("nc"), reason="nc is not installed (Debian: netcat-openbsd)")
def test_the_service_as_the_readme_shows_it(tmp_path: Path) -> None:
    load = ["journal", "load", "--data", str(tmp_path / "data"), "--schema", str(ROOT / "examples" / "schema.json")]
    subprocess.run([sys.executable, "-m", "tidings.cli.main", *load], check=True, capture_output=True)
    with Served(tmp_path / "data") as served:
        served.wait_until_running()

        def here(text: str) -> str:
            text = text.replace("127.0.0.1:8080", f"127.0.0.1:{served.port}")
            return text.replace("127.0.0.1 8090", f"127.0.0.1 {served.xml_port}")

        script = here("".join(of_readme("sh")))
        done = subprocess.run(["bash", "-eu", "-c", script], capture_output=True, text=True, check=True, timeout=120)
        printed = done.stdout
        assert re.search(r'"id":"s-\w+","filter":"price < 1300 and brand = \'mini\'"', printed)
        notified = next(json.loads(line) for line in _objects(printed) if '"notifications"' in line)
        assert [one["event"]["attributes"]["title"] for one in notified["notifications"]] == ["Red Mini"]
        assert '<OK request="PUBLISH_SUB"' in printed
        assert '<OK request="PUBLISH_EVENT"' in printed
        assert '<USER username="ann">' in printed
        program = here("".join(of_readme("py")))
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120, env=os.environ
        )
        assert "'brand': 'mini'" in done.stdout


def _objects(text: str) -> list[str]:
    """The JSON objects that curl printed one after another, without line ends."""
    decoder, found, place = json.JSONDecoder(), [], 0
    while (place := text.find("{", place)) >= 0:
        made, end = decoder.raw_decode(text, place)
        found.append(json.dumps(made))
        place = end
    return found

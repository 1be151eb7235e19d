"""constraints.txt pins all that setup.cfg asks for, within its limits, by hashes and nothing else."""

import configparser
import re
from pathlib import Path

from packaging.requirements import Requirement

LEFT_OUT = ("spark",)  # 300 MB, and it needs Java: benchmarks/clusters.sh tests it
ROOT = Path(__file__).parents[1]
TEXT = "\n".join(
    line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")
)
PINNED = {name: version for name, version in re.findall(r"^([\w.-]+)==(\S+)", TEXT, re.M)}


def asked() -> list[Requirement]:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = [asked for name, asked in config["options.extras_require"].items() if name not in LEFT_OUT]
    lines = [config["options"]["install_requires"], *extras]
    return [Requirement(line) for block in lines for line in block.split("\n") if line.strip()]


def test_all_that_is_asked_for_is_pinned_within_its_limits() -> None:
    assert len(asked()) > 10
    wrong = [str(item) for item in asked() if PINNED.get(item.name, "0") not in item.specifier]
    assert not wrong, f"run .ci/pin: {wrong}"


def test_nothing_is_there_but_versions_and_hashes() -> None:
    lines = [line for line in TEXT.replace("\\\n", "").split("\n") if line.strip()]
    assert len(lines) == len(PINNED)
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==[\w.+]+(\s+--hash=sha256:[0-9a-f]{64})+\s*", line), line

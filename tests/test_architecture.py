"""The table of folders in docs/architecture.md has every folder of the package, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"`([\w/]+)/`")


def test_every_folder_of_modules_has_a_line_of_the_table_and_no_line_is_of_none() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("\n## Folders\n")[2].partition("\n## ")[0]
    told = {name for first in re.findall(r"^\|([^|]*)\|", table, re.MULTILINE) for name in ROW.findall(first)}
    package = ROOT / "dpstats"
    whole = {path.parent.relative_to(package).as_posix() for path in package.rglob("*.py")} - {"."}
    assert told <= whole
    assert {name for name in whole if "/" not in name} <= told

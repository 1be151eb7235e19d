"""The page on results lists exactly what is not released, with the reasons the errors give."""

from pathlib import Path

from dpstats.results import NOT_RELEASED

PAGE = Path(__file__).parents[2] / "docs" / "results.md"
HEAD = "| name | why | instead |\n|---|---|---|\n"


def table() -> str:
    """One row for each reason. After a wanted change: python -m tests.results.test_docs"""
    names: dict[tuple[str, str], list[str]] = {}
    for name, reasons in NOT_RELEASED.items():
        names.setdefault(reasons, []).append(f"`{name}`")
    return "".join(f"| {', '.join(group)} | {why} | {use} |\n" for (why, use), group in names.items())


def test_the_page_lists_what_is_not_released() -> None:
    assert PAGE.read_text(encoding="utf-8").endswith(HEAD + table())


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page[: page.index(HEAD)] + HEAD + table(), encoding="utf-8")

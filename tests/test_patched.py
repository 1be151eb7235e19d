"""What tests put something else in the place of is there: of long tests, too, which are rarely run."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def imported(tree: ast.Module) -> dict[str, Any]:
    """What a file of tests imports of the package, by its names there."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dpstats":
            for name in node.names:
                found[name.asname or name.name] = _at(f"{node.module}.{name.name}")
    return found


def _at(path: str) -> Any:
    """A module, or what is in one; AttributeError or ImportError where it is not."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        owner, _, name = path.rpartition(".")
        return getattr(_at(owner), name)


def patched(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Each owner and name of ``setattr``, also where both are parameters, which stand in a row of cases."""
    for node in ast.walk(tree):
        each = node.elts if isinstance(node, ast.Tuple) else node.args if isinstance(node, ast.Call) else []
        if len(each) >= 2 and isinstance(each[0], ast.Name | ast.Attribute):
            name = each[1].value if isinstance(each[1], ast.Constant) else None
            if isinstance(name, str) and name.isidentifier():
                yield each[0], name


def lost(text: str) -> list[str]:
    """Names that are not there of modules and classes of the package."""
    tree = ast.parse(text)
    known, found = imported(tree), []
    for owner, name in patched(tree):
        chain = ast.unparse(owner).split(".")
        if chain[0] in known:
            there = known[chain[0]]
            for part in chain[1:]:
                there = getattr(there, part, None)
            if (inspect.ismodule(there) or inspect.isclass(there)) and not hasattr(there, name):
                found.append(f"{ast.unparse(owner)}.{name}")
    return found


def test_what_tests_patch_is_there() -> None:
    texts = {str(path.relative_to(FOLDER)): path.read_text() for path in FOLDER.rglob("*.py")}
    assert len(texts) > 200
    assert {path: names for path, text in texts.items() if "setattr" in text and (names := lost(text))} == {}


def test_a_name_that_moved_is_found() -> None:
    text = "from dpstats.rows import encode\nmonkeypatch.setattr(encode, '_words', 1)\n"
    assert lost(text) == ["encode._words"]
    assert lost(text.replace("_words", "parse")) == []
    assert lost("from dpstats.rows import encode\ncases = [(encode.Lookup, 'words', 1)]\n") == [
        "encode.Lookup.words"
    ]

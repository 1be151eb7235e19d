"""Noise comes from the system's source of randomness and from nothing that somebody could set or guess."""

import ast
from pathlib import Path

import pytest

import dpstats

PACKAGE = Path(dpstats.__file__).parent
MAKERS = [path for part in ("curator", "contributors") for path in sorted((PACKAGE / part).rglob("*.py"))]
# what reads settings, seeds a generator or is one; `secrets` and OpenDP are neither
FORBIDDEN = {
    "environ",
    "getenv",
    "urandom",
    "random",
    "Random",
    "seed",
    "default_rng",
    "RandomState",
    "Generator",
    "SystemRandom",
    "time",
    "getpid",
}


def named(path: Path) -> set[str]:
    """Modules that a file imports, and attributes of modules that it uses."""
    tree = ast.parse(path.read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules = {name.split(".")[0] for name in imported} | {"np"}
    found = set(imported)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value).split(".")[0] in modules:
            found.add(node.attr)
    return found


@pytest.mark.parametrize("path", MAKERS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_noise_has_no_source_but_the_systems(path: Path) -> None:
    assert not named(path) & FORBIDDEN


def test_the_search_would_find_one() -> None:
    assert named(PACKAGE / "testing.py") & FORBIDDEN

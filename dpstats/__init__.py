"""Differentially private regression with R's formulas and tables.

A public name is imported when it is first used: ``import dpstats`` and ``dpstats --help`` wait for nothing.
Type checkers read ``__init__.pyi``, and so does this module: what is public is said there.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any


def _homes() -> dict[str, tuple[str, str]]:
    """Where each public name is at home, and its name there: as the stub has it."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    lines = [line for line in stub.body if isinstance(line, ast.ImportFrom) and line.module]
    return {name.asname or name.name: (line.module or "", name.name) for line in lines for name in line.names}


_HOMES = _homes()
_MODULES = {part for module, _ in _HOMES.values() for part in module.split(".")[1:2]}
__all__ = list(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _MODULES:  # dps.budget, say, as if it had been imported
        return import_module(f"dpstats.{name}")
    if name not in _HOMES:
        from dpstats._arguments import near
        from dpstats._lacking import OTHER_NAMES

        meant = f": write {OTHER_NAMES[name]}" if name in OTHER_NAMES else near(name, __all__)
        raise AttributeError(f"module 'dpstats' has no attribute {name!r}{meant}")
    module, known = _HOMES[name]
    found = import_module(f"dpstats.{name}") if module == "dpstats" else getattr(import_module(module), known)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)

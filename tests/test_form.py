"""Form of the code that the linter does not hold: functions fit on a screen, one formatter has all lines."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCREEN = 60  # lines of a function without its docstring
FILES = sorted(
    path for folder in ("dpstats", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")
)
MARKS = [f"fmt: {word}" for word in ("skip", "off")]


def lines_of_code(function: ast.FunctionDef) -> int:
    """Lines of a function, of which a docstring is none."""
    first, lines = function.body[0], function.end_lineno - function.lineno + 1
    return lines - (first.end_lineno - first.lineno + 1) * (ast.get_docstring(function) is not None)


def test_functions_fit_on_a_screen() -> None:
    assert not {
        f"{path.relative_to(ROOT)}: {each.name}": lines_of_code(each)
        for path in FILES
        for each in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(each, ast.FunctionDef) and lines_of_code(each) > SCREEN
    }


def test_no_line_is_kept_from_the_formatter() -> None:
    """``ruff format`` writes them all."""
    assert len(FILES) > 300
    assert not [str(path) for path in FILES if any(mark in path.read_text("utf-8") for mark in MARKS)]


def test_a_long_function_is_found() -> None:
    body = "\n".join(["    x = 1"] * 70)
    (function,) = ast.parse(f'def f():\n    """One.\n\n    Two.\n    """\n{body}').body
    assert isinstance(function, ast.FunctionDef) and lines_of_code(function) == 71


def test_a_module_gives_a_name_once() -> None:
    """Of two constants of a name all functions use the later one, also those that stand before it."""
    assert not [(path.name, name) for path in FILES for name in given_again(path.read_text(encoding="utf-8"))]
    assert given_again("_END = 8\n\n\ndef f():\n    _END = 2\n\n\n_END: float = 9\nA, B = B, A\n") == ["_END"]


def given_again(text: str) -> list[str]:
    """Names that statements of a module bind more than once by `=`."""
    targets = [
        target
        for each in ast.parse(text).body
        if isinstance(each, ast.Assign | ast.AnnAssign)
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
    ]
    bound = [name for each in targets for name in ast.walk(each) if isinstance(name, ast.Name)]
    names = [name.id for name in bound if isinstance(name.ctx, ast.Store)]
    return sorted({name for name in names if names.count(name) > 1})

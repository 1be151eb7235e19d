"""What all commands are made of: a parser that refuses in one line, and options that several have."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from argparse import _SubParsersAction

FORMATS = {"text": ".txt", "json": ".json", "csv": ".csv", "html": ".html", "latex": ".tex", "md": ".md"}
"""Of tables, with the suffixes of their files."""


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a mistake in one line."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is left over here, where the command that it follows is known."""
        options, rest = super().parse_known_args(args, namespace)
        if rest:
            point = hasattr(options, "at") and any("=" in word and word[0] != "-" for word in rest)
            joined = "; commas join the values of one unit, as in --at temp=30,maker=HGST" * point
            files = hasattr(options, "data") and not any(word.startswith("-") for word in rest)
            quoted = "; a pattern of files goes in quotes, such as 'drives/*.parquet'" * files
            self.error(f"unrecognized arguments: {' '.join(rest)}{joined}{quoted}")
        return options, rest

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        sys.stdout.flush()  # of a help text
        super().exit(status, message)


def command(commands: _SubParsersAction[Parser], name: str, run: str, does: str, more: str = "") -> Parser:
    """Add a command, whose function `run` is named as ``module.function`` of this package."""
    made = _added(commands, name, does, does, more)
    made.set_defaults(run=later(run))
    return made


def group(
    commands: _SubParsersAction[Parser], name: str, does: str, actions: str, more: str
) -> _SubParsersAction[Parser]:
    """Add a command that has actions, listed after what it does."""
    made = _added(commands, name, f"{does}: {actions}", does, more)
    return made.add_subparsers(title="actions", metavar="ACTION", required=True)


def _added(commands: _SubParsersAction[Parser], name: str, told: str, does: str, more: str) -> Parser:
    return commands.add_parser(
        name,
        help=told,
        description=does[0].upper() + does[1:] + ".",
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def later(name: str) -> Callable[[argparse.Namespace], None]:
    module, _, function = name.partition(".")

    def run(options: argparse.Namespace) -> None:
        getattr(import_module(f"dpstats.cli.{module}"), function)(options)

    return run


def place(text: str) -> Path | str:
    """Where rows are: a path, or the address of a database."""
    return text if "://" in text else Path(text)


def add_running(command: Parser) -> None:
    """Add the options of tables that are elsewhere, or too large for one process."""
    command.add_argument("--query", metavar="SELECT", help="of postgresql://..., which needs it: the rows")
    command.add_argument(
        "--workers", type=int, default=1, help="processes that read a large table; default: %(default)s"
    )
    command.add_argument(
        "--cluster", metavar="ADDRESS", help="of a Dask scheduler whose workers read it: tcp://scheduler:8786"
    )


def add_csv_options(command: Parser) -> None:
    """Add the options of :func:`dpstats.read_csv`; they have no effect on Parquet and Arrow files."""
    csv = command.add_argument_group("how CSV files are written")
    csv.add_argument(
        "--sep",
        metavar="CHARACTER",
        help="between fields, e.g. ';' or tab; default: a comma, or a tab in .tsv files",
    )
    csv.add_argument("--decimal", metavar="MARK", help="of numbers, . or ,; default: .")
    csv.add_argument("--thousands", metavar="MARK", help="between groups of three digits; default: none")
    csv.add_argument("--encoding", metavar="NAME", help="such as latin-1; default: utf-8")

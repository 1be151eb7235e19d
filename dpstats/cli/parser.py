"""What all commands are made of: a parser that refuses in one line, options, and groups of both."""

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
            quoted = "; a pattern of files goes in quotes, as 'a/*.csv', and a model is --model coxph" * files
            self.error(f"unrecognized arguments: {' '.join(rest)}{joined}{quoted}")
        return options, rest

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        sys.stdout.flush()  # of a help text
        super().exit(status, message)


class Option:
    """An option or a word of a command: what `add_argument` of a parser takes."""

    def __init__(self, *names: str, **how: Any) -> None:
        self.names, self.how = names, how

    def add(self, command: Any) -> None:
        """Add it to a command, or to a group of its options."""
        command.add_argument(*self.names, **self.how)


class Section:
    """Options that stand together in the help of a command."""

    def __init__(self, title: str, *options: Option) -> None:
        self.title, self.options = title, options

    def add(self, command: Parser) -> None:
        """Add them to a command."""
        together = command.add_argument_group(self.title)
        for option in self.options:
            option.add(together)


class Either:
    """Options of which a user gives one."""

    def __init__(self, *options: Option) -> None:
        self.options = options

    def add(self, command: Parser) -> None:
        """Add them to a command."""
        one = command.add_mutually_exclusive_group()
        for option in self.options:
            option.add(one)


class Command:
    """A command, whose function `run` is named as ``module.function`` of this package."""

    def __init__(
        self, name: str, run: str, does: str, more: str, *options: Option | Section | Either, **defaults: Any
    ) -> None:
        self.name, self.does, self._more, self._options = name, does, more, options
        self._defaults = defaults | {"run": later(run)}

    def add(self, commands: _SubParsersAction[Parser]) -> None:
        """Add it to the commands."""
        made = _added(commands, self.name, self.does, self.does, self._more)
        made.set_defaults(**self._defaults)
        for option in self._options:
            option.add(made)


class Group:
    """A command that has actions, listed after what it does."""

    def __init__(self, name: str, does: str, more: str, *actions: Command) -> None:
        self._name, self._does, self._more, self._actions = name, does, more, actions

    def add(self, commands: _SubParsersAction[Parser]) -> None:
        """Add it to the commands."""
        told = f"{self._does}: {', '.join(action.name for action in self._actions)}"
        made = _added(commands, self._name, told, self._does, self._more)
        places = made.add_subparsers(title="actions", metavar="ACTION", required=True)
        for action in self._actions:
            action.add(places)


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

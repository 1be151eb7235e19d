"""What all commands are made of: a parser that refuses in one line, options, and groups of both."""

import argparse
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

FORMATS = {"text": ".txt", "json": ".json", "csv": ".csv", "html": ".html", "latex": ".tex", "md": ".md"}
"""Of tables, with the suffixes of their files."""


Add: TypeAlias = Callable[[Any], Any]
"""What adds an option to a command, or to a group of its options; or a command to others."""
Named: TypeAlias = tuple[str, Add]


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


class Numbers(argparse.Action):
    """Numbers in words of their own or with commas between them, after those that were given before."""

    def __call__(self, parser: Any, options: Any, values: Any, option_string: str | None = None) -> None:
        """Add them."""
        try:
            found = [float(part) for word in values for part in filter(None, word.split(","))]
        except ValueError:
            raise argparse.ArgumentError(self, f"invalid numbers: {' '.join(values)!r}") from None
        setattr(options, self.dest, [*(getattr(options, self.dest) or []), *found])


def option(*names: str, **how: Any) -> Add:
    """An option or a word of a command: what `add_argument` takes; one of several words may stand again."""
    if how.get("nargs") == "+" and names[0].startswith("--") and "default" not in how:
        how.setdefault("action", "extend")
    return lambda command: command.add_argument(*names, **how)


def section(title: str, *options: Add) -> Add:
    """Options that stand together in the help of a command."""
    return lambda command: _add_all(options, command.add_argument_group(title))


def either(*options: Add) -> Add:
    """Options of which a user gives one."""
    return lambda command: _add_all(options, command.add_mutually_exclusive_group())


def command(name: str, run: str, does: str, more: str, *options: Add, **defaults: Any) -> Named:
    """A command, whose function `run` is named as ``module.function`` of this package."""

    def add(commands: Any) -> None:
        made = _added(commands, name, does, does, more)
        made.set_defaults(**defaults, run=later(run))
        _add_all(options, made)

    return name, add


def group(name: str, does: str, more: str, *actions: Named) -> Named:
    """A command that has actions, listed after what it does."""

    def add(commands: Any) -> None:
        made = _added(commands, name, f"{does}: {', '.join(action for action, _ in actions)}", does, more)
        places = made.add_subparsers(title="actions", metavar="ACTION", required=True)
        _add_all([each for _, each in actions], places)

    return name, add


def _add_all(parts: Iterable[Add], place: Any) -> None:
    for add in parts:
        add(place)


def _added(commands: Any, name: str, told: str, does: str, more: str) -> Any:
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

"""The command line: ``dpstats describe | fit | plan | show | table | plot | ledger | schema``, and others."""

import argparse
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from dpstats.cli.options import parser
from dpstats.cli.streams import any_text, leave_quietly, standard_input
from dpstats.errors import NotReleased, SpecificationError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; default ``sys.argv[1:]``.

    Returns
    -------
    int
        0, or 2 after one line on standard error about what the user has to change.
    """
    if any("\0" in word for word in arguments or ()):
        return refuse("no word of a command can hold a null character")
    if sys.stdout is None:
        return refuse(
            "the standard output is closed, where results are printed; send it to a file or /dev/null"
        )
    options = argparse.Namespace()
    try:
        any_text()
        options = parser().parse_args(arguments)
        with plain_warnings(options), standard_input(options):
            options.run(options)
        sys.stdout.flush()  # now, while a reader who has left can be told from a mistake
    except BrokenPipeError:
        leave_quietly()
    except (SpecificationError, NotReleased, ImportError) as error:
        return refuse(spelt(str(error), options))
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return 0


@contextmanager
def plain_warnings(options: argparse.Namespace) -> Iterator[None]:
    """Show our own warnings as one line each; those of numpy and others may depend on values."""
    shown = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            with suppress(OSError):  # nobody reads it, and the command may have paid for what it is about
                print(f"dpstats: note: {spelt(str(message), options)}", file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


_ARGUMENT = re.compile(r"(?<![\w.(])([a-z_]+)=('[^']*'|\"[^\"]*\"|\w+(?:\.\w+)*|)")


def spelt(message: str, options: argparse.Namespace) -> str:
    """Say of arguments of functions how the options of this command are spelt: `--reuse 2026-11`."""

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        if name not in vars(options):
            return found[0]
        plain = value.strip("'\"")
        word = plain if re.fullmatch(r"[\w.-]+", plain) else value
        return f"--{name.replace('_', '-')}" + f" {word}" * (plain not in ("", "True"))

    words = _ARGUMENT.sub(option, re.sub(r"dps\.read_csv\(path, ([^()]*)\)", r"\1", message))
    return re.sub(r"(--[a-z-]+) \(\1\)", r"\1", words)  # where a message has both


def refuse(message: str) -> int:
    print("dpstats: " + " ".join(message.split()), file=sys.stderr)
    return 2

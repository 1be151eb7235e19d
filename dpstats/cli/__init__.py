"""The command line: ``dpstats describe | fit | plan | show | table | plot | ledger | schema``, and others."""

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
    try:
        any_text()
        options = parser().parse_args(arguments)
        with plain_warnings(), standard_input(options):
            options.run(options)
        sys.stdout.flush()  # now, while a reader who has left can be told from a mistake
    except BrokenPipeError:
        leave_quietly()
    except (SpecificationError, NotReleased, ImportError) as error:
        return refuse(str(error))
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return 0


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show our own warnings as one line each; those of numpy and others may depend on values."""
    shown = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            with suppress(OSError):  # nobody reads it, and the command may have paid for what it is about
                print(f"dpstats: note: {message}", file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def refuse(message: str) -> int:
    print("dpstats: " + " ".join(message.split()), file=sys.stderr)
    return 2

"""Make the notebooks of the studies from their texts: ``make studies``, or this file with the names of some.

A study ``vignettes/NAME.md`` and its notebook are a pair of jupytext. Here the notebook is run from an empty
folder under seeded noise, so that it shows the same numbers every time; its fits say NOT PRIVATE. Who
opens it and runs it gets fresh noise.
"""

import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

STUDIES = Path(__file__).parents[2] / "vignettes"
SEEDED = (
    "from dpstats import testing\n_seeded = testing.noise(testing.SeededNoise({seed}))\n_seeded.__enter__()\n"
)
SEED = 1


def made(text: Path) -> nbformat.NotebookNode:
    """The notebook of a study, with what its code shows under seeded noise."""
    notebook = jupytext.read(text)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SEEDED.format(seed=SEED)))
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    notebook.cells.pop(0)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{text.stem}-{number}"
        cell["metadata"] = {}
        if cell.cell_type == "code":
            cell["execution_count"] = None
            for output in cell.outputs:
                output.pop("execution_count", None)
                if output.output_type == "execute_result":
                    output["execution_count"] = None
    notebook["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def write(text: Path) -> None:
    """Write the notebook beside its text."""
    nbformat.write(made(text), text.with_suffix(".ipynb"))


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in STUDIES.glob("*.md")):
        write(STUDIES / f"{name}.md")
        print(name, flush=True)

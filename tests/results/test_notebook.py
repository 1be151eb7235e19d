"""A notebook that is really run: what its cells show."""

import nbclient
import pytest
from nbformat import v4

CELLS = {
    "fit": ("text/html", "text/plain"),
    "fit.summary()": ("text/html", "text/latex", "text/plain"),
    "fit.life(USE)": ("text/html", "text/latex", "text/plain"),
    "fit.t_test('voltage = 0')": ("text/html", "text/latex"),
    "fit.tidy()": ("text/html",),
    "dps.compare(fit, fit)": ("text/html",),
    "fit.shape": ("text/plain",),
    "fit.plot_life(USE).figure": ("image/png",),
    "fit.plot_life(USE)": ("image/png",),
}
SETUP = """
import dpstats as dps
from tests.results.fits import USE, capacitor
fit = capacitor()
"""


def test_a_notebook_shows_tables_and_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in (SETUP, *CELLS)])
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    for cell, (source, wanted) in zip(notebook.cells[1:], CELLS.items(), strict=True):
        (output,) = cell.outputs
        assert set(wanted) <= set(output.data), source
    page = notebook.cells[2].outputs[0].data["text/html"]
    assert page.startswith('<div class="dpstats">') and "temperature" in page
    assert "epsilon = 1" in notebook.cells[1].outputs[0].data["text/html"]

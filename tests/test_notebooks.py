"""The notebooks print what they show: each runs in a kernel of its own, where it lies."""

import os

import nbformat
import pytest
from nbclient import NotebookClient
from source_tree import ROOT

NOTEBOOKS = ROOT / "docs/notebooks"


def printed(notebook):
    """The text of each cell's outputs; what streams to standard error is progress."""
    return [
        "".join(
            output["data"]["text/plain"] if "data" in output else output["text"]
            for output in cell.get("outputs", [])
            if output.get("name") != "stderr"
        )
        for cell in notebook.cells
    ]


@pytest.mark.parametrize("name", ["first_report", "threshold", "compare"])
def test_a_notebook_prints_what_it_shows(name):
    """Renew the outputs with RENEW=1 pytest tests/test_notebooks.py; read the diff."""
    file = NOTEBOOKS / f"{name}.ipynb"
    shown = nbformat.read(file, 4)
    nbformat.validate(shown)
    run = nbformat.from_dict(shown)
    patience = {"timeout": 3600, "startup_timeout": 3600}
    NotebookClient(run, kernel_name="python3", record_timing=False, **patience,
                   resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()  # fmt: skip
    if "RENEW" in os.environ:
        for cell in run.cells:
            if "outputs" in cell:
                cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
        run.metadata.pop("language_info")  # it names the version of Python
        nbformat.write(run, file)
    assert printed(run) == printed(nbformat.read(file, 4))
    assert {path.stem for path in NOTEBOOKS.iterdir()} == {"first_report", "threshold", "compare"}

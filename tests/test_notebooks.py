"""The notebooks as a reader gets them: run from top to bottom without data, and stored without what a run left."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbclient
import nbformat
import pytest
from ipykernel import kernelspec

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
DATA = os.environ.get("SODAMEM_DATA", "")
SECONDS = 120  # of one cell; each takes a few, this is for a machine that is busy
# The places of one machine: homes, checkouts, temporary folders, drives.
MACHINE = re.compile(r"(?<![\w.])/(?:home|Users|root|work|tmp|mnt|data|opt|var)/|\b[A-Z]:\\")

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def _read(path: Path):
    return nbformat.read(path, as_version=4)


@pytest.fixture
def execute(tmp_path, monkeypatch, runs):
    """execute(path) -> the notebook as it is after a run of all cells by this interpreter, in a folder of its own."""
    # The user's own kernels come first in the search otherwise, and may be of another environment.
    kernelspec.write_kernel_spec(str(tmp_path / "jupyter" / "kernels" / "python3"))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("MPLCONFIGDIR", os.environ.get("MPLCONFIGDIR", str(tmp_path / "matplotlib")))
    monkeypatch.delenv("SODAMEM_DATA", raising=False)
    monkeypatch.delenv("SODAMEM_MODELS", raising=False)
    (tmp_path / "elsewhere").mkdir()

    def run(path: Path):
        notebook = _read(path)
        client = nbclient.NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": str(tmp_path / "elsewhere")}},
        )
        client.execute()
        return notebook

    return run


def test_there_are_notebooks():
    assert [path.name[:3] for path in NOTEBOOKS] == ["01_", "02_", "03_", "04_"]


@each
def test_a_notebook_runs_from_top_to_bottom(path, execute, tmp_path):
    notebook = execute(path)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert any("image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    assert not list((tmp_path / "elsewhere").iterdir()), "a notebook writes where it is told to, not where it is run"


@each
def test_a_notebook_is_stored_as_it_was_written(path):
    notebook = _read(path)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not [cell.id for cell in cells if cell.outputs or cell.execution_count is not None]
    assert set(notebook.metadata) <= {"kernelspec", "language_info"} and not any(cell.metadata for cell in cells)
    assert not MACHINE.search(path.read_text(encoding="utf-8"))
    assert cells[0].source.startswith("from sodamem.config import compose\n")
    assert notebook.cells[0].cell_type == "markdown" and notebook.cells[0].source.startswith("# ")


@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="SODAMEM_DATA is not set")
def test_published_answers_are_judged_again_where_they_are(execute, monkeypatch):
    monkeypatch.setenv("SODAMEM_DATA", DATA)
    notebook = execute(FOLDER / "03_rejudging.ipynb")
    said = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "sodamem_release: 500 answers" in said

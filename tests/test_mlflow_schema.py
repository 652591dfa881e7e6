"""A process that dies while it makes the tables of MLflow's database leaves none that others trip over."""

import os
import signal
import subprocess
import sys

import pytest

from sodamem import mlflow_schema, mlflow_store
from sodamem.errors import ServiceError
from sodamem.mlflow_store import open_store

DIES = """
import os, signal, sys
import mlflow.store.db.utils as utils
from sodamem.tracking import MlflowTracker
utils._upgrade_db = lambda engine: os.kill(os.getpid(), signal.SIGKILL)  # the first tables are there, the others not
with MlflowTracker(uri=sys.argv[1], experiment="e", artifacts=None, traces="none").run("n", {}):
    pass
"""


@pytest.mark.slow
def test_tables_that_were_half_made_are_made_anew(tmp_path):
    uri = f"sqlite:///{tmp_path}/new/mlflow.db"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MLFLOW_DISABLE_TELEMETRY": "true"}
    died = subprocess.run([sys.executable, "-c", DIES, uri], env=environment, capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    left = {entry.name for entry in (tmp_path / "new").iterdir()}
    assert "mlflow.db.new" in left and "mlflow.db" not in left
    mlflow_schema.make(uri)
    assert open_store(uri, "e", None)[0].search_runs(["0"]) == []
    assert {entry.name for entry in (tmp_path / "new").iterdir()} == {"mlflow.db", "mlflow.db.lock"}


def test_a_database_that_is_there_is_left_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(mlflow_schema, "open_store", None)
    (tmp_path / "mlflow.db").write_bytes(b"whatever it is")
    mlflow_schema.make(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow_schema.make("http://127.0.0.1:9")
    mlflow_schema.make("postgresql://host/base")
    assert [entry.name for entry in tmp_path.iterdir()] == ["mlflow.db"]


def test_a_place_that_cannot_be_written_gives_one_line_at_once(tmp_path):
    (tmp_path / "file").touch()
    uri = f"sqlite:///{tmp_path}/file/mlflow.db"
    with pytest.raises(ServiceError, match=r"tracking store sqlite:.* failed \(.*Check it") as caught:
        mlflow_schema.make(uri)
    assert "\n" not in str(caught.value) and mlflow_store.absolute(uri) == uri

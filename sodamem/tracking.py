"""Where runs are recorded: in MLflow, or nowhere.

Every run is addressed by its id through one explicit client, so that parents and children may live in different
processes. Children of a sweep pass their parent's id; nothing depends on an active run.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol

from sodamem import mlflow_schema
from sodamem.errors import ConfigError, DataError
from sodamem.mlflow_store import ERROR, PROCESS, absolute, open_store, process_tag, revision, service
from sodamem.protocols import Tracker
from sodamem.records import flat, redacted, report_name, tracked_name

Traces = Literal["none", "wrong", "all"] | int  # of which questions a run keeps traces; a number: of the first so many
LONGEST = 500  # characters of a parameter or tag; a longer parameter becomes an artifact and its hash
BATCH = 100  # parameters that MLflow takes in one call
KEY = "sodamem.key"  # tag: what names the run elsewhere


class TrackedRun(Protocol):
    """One run being recorded. `id` is empty where nothing is; `url` is what to open."""

    id: str
    url: str

    def metrics(self, values: Mapping[str, float | None], step: int = 0) -> None:
        """Record measures under their report names (`recall@10`). NaN, infinity and None become a tag instead."""

    def tags(self, values: Mapping[str, object]) -> None: ...
    def artifact(self, path: str | Path, folder: str = "") -> None: ...
    def text(self, content: str, name: str) -> None: ...
    def figure(self, figure: Any, name: str) -> None: ...
    def dataset(self, name: str, sha256: str, source: str) -> None: ...


@dataclass(kw_only=True)
class NullRun(TrackedRun):
    id: str = ""
    url: str = ""

    def metrics(self, values: Mapping[str, float | None], step: int = 0) -> None: ...
    def tags(self, values: Mapping[str, object]) -> None: ...
    def artifact(self, path: str | Path, folder: str = "") -> None: ...
    def text(self, content: str, name: str) -> None: ...
    def figure(self, figure: Any, name: str) -> None: ...
    def dataset(self, name: str, sha256: str, source: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class NullTracker(Tracker):
    """Records nothing; results are still on disk in the ledger."""

    @contextmanager
    def run(
        self,
        name: str,
        params: Mapping[str, object],
        *,
        tags: Mapping[str, object] | None = None,
        parent: str | None = None,
        resume: str | None = None,
        key: str | None = None,
    ) -> Iterator[TrackedRun]:
        yield NullRun()


@dataclass(frozen=True, kw_only=True)
class MlflowTracker(Tracker):
    """Runs in an MLflow tracking store, opened at the first run.

    uri: of the store; a relative sqlite path is made absolute · experiment: name, created when new ·
    artifacts: folder for files of a new experiment, None to leave it to a tracking server · traces: which questions
    become a trace of the run that asks them.
    """

    uri: str
    experiment: str
    artifacts: str | None
    traces: Traces

    def __post_init__(self) -> None:
        if self.uri.startswith("file:") or "://" not in self.uri:
            raise ConfigError(
                f"uri must be a database or a server, got {redacted(self.uri)}. Use sqlite:////absolute/path/mlflow.db"
            )
        if not self.experiment.strip():
            raise ConfigError(f"experiment must be a name, got {self.experiment!r}")
        if isinstance(self.traces, int) and self.traces < 0:
            raise ConfigError(f"traces must be none, wrong, all or a number >= 0, got {self.traces}")

    @contextmanager
    def run(
        self,
        name: str,
        params: Mapping[str, object],
        *,
        tags: Mapping[str, object] | None = None,
        parent: str | None = None,
        resume: str | None = None,
        key: str | None = None,
    ) -> Iterator[TrackedRun]:
        """Record what the body does: FINISHED, FAILED when it raises, KILLED on an interrupt.

        params: the configuration, nested, written once in canonical form · parent: id of the run this one is part
        of · resume: id of an earlier run to go on with; its parameters are compared, not written again · key: names the
        run elsewhere; one that was begun under it is gone on with, whatever ended it.
        Raises ServiceError when the store cannot be reached, ConfigError when a resumed run had other parameters.
        """
        mlflow_schema.make(self.uri)
        client, experiment = open_store(self.uri, self.experiment, self.artifacts)
        rows = {tracked_name(path): value for path, value in flat(params).items()}
        with service(self.uri):
            if resume is None and key is not None:
                resume = _begun(client, experiment, key)
            if resume is None:
                own = {PROCESS: process_tag(os.getpid())} | ({"mlflow.parentRunId": parent} if parent else {})
                own |= {KEY: key} if key else {}  # with the run itself: no process can die between the two
                begun = client.create_run(experiment, run_name=name, tags=own)
            else:
                begun = client.get_run(resume)
                _refuse_changes(resume, begun.data.params, rows)
                client.set_tag(resume, PROCESS, process_tag(os.getpid()))
                client.update_run(resume, status="RUNNING")
                if ERROR in begun.data.tags:
                    client.delete_tag(resume, ERROR)
        run = MlflowRun(
            client=client,
            uri=absolute(self.uri),
            id=begun.info.run_id,
            experiment=begun.info.experiment_id,
            known=dict(begun.data.metrics),
            traces=self.traces,
        )
        try:
            run.tags({"sodamem.revision": revision(), **(tags or {})})
            run.params({key: value for key, value in rows.items() if key not in begun.data.params})
            yield run
        except KeyboardInterrupt:
            run.end("KILLED")
            raise
        except BaseException as error:
            run.end("FAILED")
            run.tags({ERROR: f"{type(error).__name__}: {error}"})
            run.text(redacted("".join(traceback.format_exception(error))), "error.txt")
            raise
        run.end("FINISHED")


@dataclass(kw_only=True)
class MlflowRun(TrackedRun):
    """One run, by its id. All calls go to the store at once, and raise ServiceError when it does not take them."""

    client: Any
    uri: str
    id: str
    experiment: str
    traces: Traces
    known: dict[str, float] = field(default_factory=dict)  # latest values, so that a resumed run adds no second point

    @property
    def url(self) -> str:  # type: ignore[override]
        """The page of the run under a tracking server, or the store and what to append to its `mlflow ui`."""
        return f"{redacted(self.uri)}#/experiments/{self.experiment}/runs/{self.id}"

    def params(self, rows: Mapping[str, str]) -> None:
        """Write new parameters under their tracked names; MLflow takes each only once."""
        from mlflow.entities import Param

        for name, value in rows.items():
            if len(value) > LONGEST:
                self.text(value, f"params/{name.replace('/', '.')}.txt")
        params = iter([Param(name, _short(value)) for name, value in rows.items()])
        with service(self.uri):
            while batch := list(islice(params, BATCH)):
                self.client.log_batch(self.id, params=batch)

    def metrics(self, values: Mapping[str, float | None], step: int = 0) -> None:
        from mlflow.entities import Metric

        now = time.time_ns() // 10**6
        finite = {tracked_name(k): float(v) for k, v in values.items() if v is not None and math.isfinite(v)}
        points = [Metric(name, value, now, step) for name, value in finite.items() if self.known.get(name) != value]
        with service(self.uri):
            if points:
                self.client.log_batch(self.id, metrics=points)
        self.known |= finite
        self.tags({f"nonfinite:{k}": v for k, v in values.items() if v is None or not math.isfinite(v)})

    def tags(self, values: Mapping[str, object]) -> None:
        with service(self.uri):
            for key, value in values.items():
                name = ":".join(map(tracked_name, key.split(":")))
                self.client.set_tag(self.id, name, redacted(" ".join(str(value).split()))[:LONGEST])

    def artifact(self, path: str | Path, folder: str = "") -> None:
        """Keep a copy of a file or a folder, under `folder`."""
        if not Path(path).exists():
            raise DataError(f"artifact must be a file or a folder that exists, got {path}")
        with service(self.uri):
            self.client.log_artifact(self.id, str(path), folder or None)

    def text(self, content: str, name: str) -> None:
        with service(self.uri):
            self.client.log_text(self.id, content, name)

    def figure(self, figure: Any, name: str) -> None:
        """Keep a matplotlib figure; the ending of `name` picks the format."""
        with service(self.uri):
            self.client.log_figure(self.id, figure, name)

    def dataset(self, name: str, sha256: str, source: str) -> None:
        """Name the data a run has read, by the hash of its bytes. MLflow keeps 36 signs of it, the profile all."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        data = Dataset(
            name=name,
            digest=sha256[:36],
            source_type="local",
            source=json.dumps({"uri": redacted(source)}),
            profile=json.dumps({"sha256": sha256}),
        )
        with service(self.uri):
            self.client.log_inputs(self.id, [DatasetInput(data, [InputTag("mlflow.data.context", "evaluation")])])

    def end(self, status: str) -> None:
        with service(self.uri):
            self.client.set_terminated(self.id, status)


def _begun(client: Any, experiment: str, key: str) -> str | None:
    """The id of the run of this key, if there is one."""
    found = client.search_runs([experiment], f"tags.`{KEY}` = '{key}'", max_results=1)
    return str(found[0].info.run_id) if found else None


def _short(value: str) -> str:
    return value if len(value) <= LONGEST else f"sha256:{hashlib.sha256(value.encode()).hexdigest()}"


def _refuse_changes(run: str, written: Mapping[str, str], rows: Mapping[str, str]) -> None:
    changed = [report_name(name) for name, value in written.items() if _short(rows.get(name, "")) != value]
    if changed:
        raise ConfigError(
            f"run {run} must be resumed with its own parameters, got others for {', '.join(changed)}. Start a new run"
        )

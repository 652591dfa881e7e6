"""One trial of a study as a run of its own, in whatever process a launcher calls it, and the file it leaves behind.

The file appears whole or not at all. It is what a study goes by when a launcher, a sibling or the driver has died.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from sodamem import config, text
from sodamem.errors import ConfigError, SodamemError
from sodamem.mlflow_store import process_tag
from sodamem.records import redacted
from sodamem.run import run
from sodamem.sources import source

LONGEST = 500  # characters of a reason


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """What came of a trial. point: its key · values: measure -> figure, empty where there is a reason instead ·
    folder: of its run, empty where it left none."""

    number: int
    point: str
    values: Mapping[str, float]
    reason: str
    folder: str


@dataclass(frozen=True, kw_only=True)
class TrialFiles:
    """The results of trials in a folder, `<number>.json`, and `<number>.begun` for those that a process is at."""

    folder: Path

    def begin(self, number: int) -> None:
        self._put(f"{number}.begun", process_tag(os.getpid()))

    def begun(self, number: int) -> bool:
        return self._begun(number).exists()

    def alive(self, number: int) -> bool:
        """Whether a trial is in another process of this machine, which lives; of other machines nothing is known."""
        with suppress(FileNotFoundError):
            tag = self._begun(number).read_text(encoding="utf-8")
            return tag != process_tag(os.getpid()) and process_tag(int(tag.split("/")[1])) == tag
        return False

    def write(self, result: TrialResult) -> None:
        self._put(f"{result.number}.json", json.dumps(asdict(result), indent=1, sort_keys=True) + "\n")

    def read(self, number: int, point: str) -> TrialResult | None:
        """The result of a trial; None where there is no file, or one of another point under the same number."""
        with suppress(FileNotFoundError):
            found = _result(self.folder / f"{number}.json")
            return found if found.point == point else None
        return None

    def forget(self, number: int) -> None:
        for path in (self._begun(number), self.folder / f"{number}.json"):
            path.unlink(missing_ok=True)

    def all(self) -> Iterator[TrialResult]:
        for path in sorted(self.folder.glob("*.json"), key=lambda path: int(path.stem)):
            yield _result(path)

    def _begun(self, number: int) -> Path:
        return self.folder / f"{number}.begun"

    def _put(self, name: str, content: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f"{name}.{os.getpid()}.partial"
        with partial.open("w", encoding="utf-8") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(self.folder / name)


def _result(path: Path) -> TrialResult:
    return TrialResult(**json.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What a launcher calls, with the configuration of one trial. It raises nothing: a fault is the trial's reason.

    folder: of the results · measures: that are wanted of the run · data: hash of the data set · code: names of source
    files and packages, and their hash. A trial that is composed, coded or fed differently elsewhere has no score.
    """

    folder: str
    measures: tuple[str, ...]
    data: str
    code: tuple[tuple[str, ...], str]

    def __call__(self, cfg: DictConfig) -> dict[str, Any]:
        """The trial's result as plain data, for a launcher that hands values back."""
        cfg = config.absolute(cfg)
        number = int(cfg.trial.number)
        files = TrialFiles(folder=Path(self.folder))
        files.begin(number)
        values: dict[str, float] = {}
        reason = folder = ""
        try:
            values, folder = self._run(cfg)
            reason = "; ".join(f"{name} is {value}" for name, value in values.items() if not math.isfinite(value))
        except SodamemError as error:
            reason = str(error)
        except Exception as error:  # a launcher may lose a whole batch to one exception
            reason = f"{type(error).__name__}: {error}"
        reason = one_line(reason)
        result = TrialResult(
            number=number, point=str(cfg.trial.point), values={} if reason else values, reason=reason, folder=folder
        )
        files.write(result)
        return asdict(result)

    def _run(self, cfg: DictConfig) -> tuple[dict[str, float], str]:
        names, code = self.code
        if fingerprint(config.plain(cfg)) != cfg.trial.config or source(*names) != code:
            what = "code" if source(*names) != code else "configuration"
            raise ConfigError(f"trial must have the study's {what}, this process has another. Give it the same one")
        outcome = run(cfg, quiet=True)
        data = json.loads((outcome.folder / "data.json").read_text(encoding="utf-8"))["sha256"]
        if data != self.data:
            raise ConfigError(f"trial must read the study's data, this process has others. See {outcome.folder}")
        if missing := [name for name in self.measures if outcome.metrics.get(name) is None]:
            raise ConfigError(f"measures must be defined for some question, {missing[0]} is not")
        return {name: float(outcome.metrics[name]) for name in self.measures}, str(outcome.folder)


def fingerprint(cfg: Mapping[str, Any]) -> str:
    """A hash of all that a plain configuration says but how its run is called and which trial it is."""
    return text.digest({key: value for key, value in cfg.items() if key not in ("name", "trial")})


def one_line(reason: str) -> str:
    return redacted(" ".join(reason.split()))[:LONGEST]

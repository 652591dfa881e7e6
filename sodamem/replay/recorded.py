"""A configuration split where recall ends and fusion begins, and the recordings that serve many of them.

Recordings lie under <runs>/recordings, named by their content: the data, the stores' fingerprints, everything
configured before fusion, and the code that runs there. What is known is never recalled again.
"""

from __future__ import annotations

import copy
import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock
from omegaconf import OmegaConf

from sodamem import build, text
from sodamem.errors import ConfigError, DataError
from sodamem.fusion.base import AwardFusion
from sodamem.pipeline import Pipeline
from sodamem.protocols import Corpus
from sodamem.replay.recording import FORMAT, Recording, record
from sodamem.replay.replay import Cut, Replay
from sodamem.sources import DATA, EXTRACT, RECALL, source

_PARTS = ("dataset", *build.INGEST, "encoder", "recall")
_CODE = (*DATA, *EXTRACT, *RECALL, "fusion/awards.py", "replay/recording.py")
_PACKAGES = ("numpy", "scikit-learn", "bm25s", "PyStemmer", "hnswlib", "fastembed", "onnxruntime")
_OPEN = 3  # replays held in memory; each is some hundred megabytes on a benchmark
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One plain configuration. upstream: what is configured before fusion, tunnels apart · tunnels: their nodes,
    without H and keep, which are in the cut with the subset and top-k · fusion: its node · whole: all of it."""

    upstream: Mapping[str, Any]
    tunnels: Mapping[str, Mapping[str, Any]]
    fusion: Mapping[str, Any]
    cut: Cut
    whole: Mapping[str, Any]

    @classmethod
    def of(cls, cfg: Mapping[str, Any]) -> Setting:
        """Split a plain configuration as `config.plain` gives it."""
        tunnels = {name: {**node} for name, node in cfg["tunnel"].items()}
        heads = {name: node.pop("heads") for name, node in tunnels.items() if "heads" in node}
        keep: dict[str, int | None] = {}
        for name, node in tunnels.items():
            if "expansion" in node:
                node["expansion"] = {**node["expansion"]}
                keep[name] = node["expansion"].pop("keep")
        recall = {**cfg["recall"]}
        cut = Cut(
            tunnels=tuple(tunnels), heads=tuple(heads.items()), keep=tuple(keep.items()), top_k=recall.pop("top_k")
        )
        upstream = {**{part: cfg[part] for part in _PARTS}, "recall": recall}
        return cls(upstream=upstream, tunnels=tunnels, fusion=cfg["fusion"], cut=cut, whole=cfg)


class Recordings:
    """Replays of settings, over as few recordings as will do.

    `settings` are those that may be asked for: all of them are covered by one recording where they differ in fusion,
    tunnels, H, keep and top-k alone. A setting beyond them is recorded when it comes.
    """

    def __init__(self, runs: Path, settings: Iterable[Setting]) -> None:
        self.folder = runs / "recordings"
        self._tunnels: dict[str, Mapping[str, Any]] = {}
        self._most: dict[tuple[str, str], float] = {}
        self._theta: dict[str, float] = {}
        self._open: OrderedDict[str, Replay] = OrderedDict()
        self._sources: dict[str, tuple[Corpus, dict[str, str]]] = {}
        for setting in settings:
            self._cover(setting)

    def replay(self, setting: Setting) -> Replay:
        """A replay that holds the setting. Raises what recalling raises, e.g. DataError for missing data."""
        self._cover(setting)
        unit = str(setting.fusion["unit"])
        named = text.digest(setting.upstream, self._wide(setting), unit, self._theta.get(unit))
        if named not in self._open:
            self._open[named] = Replay(self._recorded(setting, unit))
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
        self._open.move_to_end(named)
        return self._open[named]

    def data(self, setting: Setting) -> Corpus:
        """The opened data of a setting."""
        return self._source(setting)[0]

    def _cover(self, setting: Setting) -> None:
        for name, node in setting.tunnels.items():
            self._tunnels.setdefault(name, node)
        for kind, limits in (("heads", setting.cut.heads), ("keep", setting.cut.keep)):
            for name, limit in dict(limits if isinstance(limits, tuple) else ()).items():
                value = float("inf") if limit is None else float(limit)
                self._most[kind, name] = max(value, self._most.get((kind, name), 0))
        if (theta := setting.fusion.get("theta")) is not None:
            unit = str(setting.fusion["unit"])
            self._theta[unit] = min(theta, self._theta.get(unit, 1.0))

    def _wide(self, setting: Setting) -> dict[str, dict[str, Any]]:
        """Nodes of all tunnels that may be asked for, at their widest; those of the setting as it has them."""
        found: dict[str, dict[str, Any]] = {}
        for name in sorted(self._tunnels):
            node = copy.deepcopy(dict(setting.tunnels.get(name, self._tunnels[name])))
            for kind, place in (("heads", node), ("keep", node.get("expansion", {}))):
                if (kind, name) in self._most:
                    limit = self._most[kind, name]
                    place[kind] = None if limit == float("inf") else int(limit)
            found[name] = node
        return found

    def _recorded(self, setting: Setting, unit: str) -> Recording:
        corpus, prints = self._source(setting)
        theta, wide = self._theta.get(unit), self._wide(setting)
        described = {**setting.upstream, "dataset": {**setting.upstream["dataset"], "path": None}}  # its hash counts
        key = text.digest(FORMAT, code(), corpus.sha256, prints, described, wide, unit, theta)[:24]
        path = self.folder / f"{key}.npz"
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):  # of several workers one records, the others wait for it
            if path.exists():
                try:
                    return Recording.load(path)
                except DataError as error:
                    _log.warning("%s; recording again", error)
            _log.info("recording recall of %s as %s", corpus.name, path)
            found = record(_pipeline(setting.whole, wide), corpus, unit=unit, theta=theta, key=key)
            found.save(path)
        return found

    def _source(self, setting: Setting) -> tuple[Corpus, dict[str, str]]:
        """The data of a setting and the fingerprint of each of its stores, which are brought up to date."""
        named = text.digest(setting.upstream)
        if named not in self._sources:
            corpus: Corpus = build.build(
                setting.upstream["dataset"], "dataset", setting.whole["trusted_targets"]
            ).open()
            pipeline, prints = _pipeline(setting.whole), {}
            for name in corpus.history_ids:
                if corpus.questions(name):
                    history = corpus.history(name)
                    with pipeline.store.open(history, pipeline.settings, pipeline.stores) as store:
                        pipeline.ingest(history, store)
                        prints[name] = store.fingerprint
            self._sources[named] = corpus, prints
        return self._sources[named]


def _pipeline(cfg: Mapping[str, Any], tunnels: Mapping[str, Any] | None = None) -> Pipeline:
    return build.pipeline(OmegaConf.create({**cfg, "tunnel": dict(tunnels or cfg["tunnel"])}))


def fusion_of(setting: Setting) -> AwardFusion:
    """The fusion of a setting, built. Raises ConfigError where it is not one that can be replayed."""
    fusion: Any = build.build(setting.fusion, "fusion", setting.whole["trusted_targets"])
    if not isinstance(fusion, AwardFusion):
        raise ConfigError(
            f"fusion must be one over awards to be replayed, got {type(fusion).__name__}. Set replay=false"
        )
    return fusion


@lru_cache(maxsize=1)
def code() -> str:
    """Digest of the sources and versions that decide what recall finds: other code, another recording."""
    return text.digest(source(*_CODE), {package: version(package) for package in _PACKAGES})

"""Recall of many questions, recorded before fusion: the awards, and what is needed to score rankings of them.

What tunnels find does not depend on the fusion, so it is found once and fused many times (`sodamem.replay`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sodamem import text
from sodamem.errors import ConfigError, DataError
from sodamem.evaluate import opened
from sodamem.fusion.awards import Awards, Ints, Near, gather, join
from sodamem.pipeline import Pipeline
from sodamem.protocols import Corpus
from sodamem.store.snapshot import FACT, Snapshot
from sodamem.types import Question

FORMAT = 2
_NAMES = ("ids", "histories", "categories")
_ARRAYS = ("slot", "turn", "owner", "tokens", "gold_question", "gold_turn", "gold_count")


@dataclass(frozen=True, kw_only=True)
class Recording:
    """The awards of q questions under one unit, m candidates in all.

    slot: int32 [n], place of an award in its head's list, 0 for the head · turn, owner: int32 [s], every turn that a
    candidate stands for and that candidate, ascending, the turn it is filed under first · tokens: int32 [m], length of
    its text · ids, histories, categories: [q] · gold_question, gold_turn: int32 [g], one row for every gold turn of a
    scored question · gold_count: int32 [q], 0 where recall is undefined · theta: the least cosine recorded, a setting
    may merge from there on; None for no merging.
    """

    awards: Awards
    slot: Ints
    turn: Ints
    owner: Ints
    tokens: Ints
    ids: tuple[str, ...]
    histories: tuple[str, ...]
    categories: tuple[str, ...]
    gold_question: Ints
    gold_turn: Ints
    gold_count: Ints
    unit: str
    theta: float | None
    key: str  # digest of the data and of everything before fusion

    def save(self, path: Path) -> None:
        """Write the arrays in one file, in place only once complete."""
        arrays: dict[str, NDArray[np.generic]] = {name: np.asarray(getattr(self, name)) for name in _NAMES + _ARRAYS}
        arrays |= {
            f"awards_{f.name}": np.asarray(getattr(self.awards, f.name)) for f in fields(Awards) if f.name != "near"
        }
        arrays |= {f"near_{f.name}": getattr(self.awards.near, f.name) for f in fields(Near)}
        arrays |= {"unit": np.array(self.unit), "key": np.array(self.key), "format": np.array(FORMAT)}
        arrays["theta"] = np.array(np.nan if self.theta is None else self.theta)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".partial.npz")
        np.savez(draft, **arrays)  # type: ignore[arg-type]
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a recording; raises DataError in one line when the file is damaged or of another format."""
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                found = {name: file[name] for name in file.files}
            if int(found["format"]) != FORMAT:
                raise ValueError(f"format {found['format']}")
            pairs = Near(**{field.name: found[f"near_{field.name}"] for field in fields(Near)})
            columns = {f.name: found[f"awards_{f.name}"] for f in fields(Awards) if f.name not in ("near", "tunnels")}
            rest: dict[str, Any] = {name: tuple(found[name].tolist()) for name in _NAMES}
            return cls(
                awards=Awards(tunnels=tuple(found["awards_tunnels"].tolist()), near=pairs, **columns),
                unit=str(found["unit"]),
                theta=None if np.isnan(found["theta"]) else float(found["theta"]),
                key=str(found["key"]),
                **rest,
                **{name: found[name] for name in _ARRAYS},
            )
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise DataError(f"recording {path} must be readable, got: {error}. Delete it to record again") from error


def record(pipeline: Pipeline, corpus: Corpus, *, unit: str, theta: float | None, key: str = "") -> Recording:
    """Recall every question of a corpus with the pipeline's tunnels, and keep what they found.

    The pipeline must be set to the widest H and keep that will be asked for; its own fusion is not used. `theta` is
    the least cosine from which a setting may merge, None where none does.
    """
    parts: list[Awards] = []
    columns: dict[str, list[Ints]] = {name: [] for name in ("slot", "turn", "sources", "tokens")}
    asked: list[Question] = []
    gold: list[list[int]] = []
    strengths = {name: tunnel.strength for name, tunnel in pipeline.tunnels.items()}
    for memory, questions in opened(pipeline, corpus):
        snapshot = memory.snapshot
        length = np.array([text.estimate_tokens(content) for content in snapshot.texts], dtype=np.int32)
        for question in questions:
            query = pipeline.query(memory, question)
            hits = pipeline.search(memory, query)
            parts.append(gather(query, hits, strengths, snapshot, unit=unit, theta=theta))
            turns, sizes = _sources(parts[-1].rows, snapshot)
            columns["slot"].append(np.concatenate([_slots(table.head) for table in hits.values()]))
            columns["turn"].append(turns)
            columns["sources"].append(sizes)
            columns["tokens"].append(length[parts[-1].rows])
            asked.append(question)
            known = {turn: snapshot.row[turn] for turn in question.gold_turns if turn in snapshot.row}
            gold.append([] if question.exclude else list(known.values()))
    if not parts:
        raise ConfigError("dataset must hold at least one question to be recorded, got none")
    whole = {name: np.concatenate(column).astype(np.int32) for name, column in columns.items()}
    sources = whole.pop("sources")
    counts = [0 if question.exclude else len(set(question.gold_turns)) for question in asked]
    return Recording(
        awards=join(parts),
        owner=np.repeat(np.arange(len(sources), dtype=np.int32), sources),
        ids=tuple(question.id for question in asked),
        histories=tuple(question.history_id for question in asked),
        categories=tuple(question.category for question in asked),
        gold_question=np.repeat(np.arange(len(gold)), [len(rows) for rows in gold]).astype(np.int32),
        gold_turn=np.array([row for rows in gold for row in rows], dtype=np.int32),
        gold_count=np.array(counts, dtype=np.int32),
        unit=unit,
        theta=theta,
        key=key,
        **whole,
    )


def part(recording: Recording, questions: Sequence[int]) -> Recording:
    """The recording of some of its questions, in the order of the recording."""
    wanted = np.zeros(len(recording.ids), dtype=bool)
    wanted[list(questions)] = True
    number = (np.cumsum(wanted) - 1).astype(np.int32)
    awards = recording.awards
    kept = wanted[awards.question]
    renamed = (np.cumsum(kept) - 1).astype(np.int32)
    inside, pairs = kept[awards.place], kept[awards.near.left]
    golden, owned = wanted[recording.gold_question], kept[recording.owner]

    def chosen(values: Sequence[str]) -> tuple[str, ...]:
        return tuple(value for value, keep in zip(values, wanted.tolist(), strict=True) if keep)

    return Recording(
        awards=Awards(
            tunnels=awards.tunnels,
            strong=awards.strong,
            question=number[awards.question[kept]],
            place=renamed[awards.place[inside]],
            near=Near(
                left=renamed[awards.near.left[pairs]],
                right=renamed[awards.near.right[pairs]],
                cosine=awards.near.cosine[pairs],
            ),
            rows=awards.rows[kept],
            tie=awards.tie[kept],
            inside=awards.inside[kept],
            tunnel=awards.tunnel[inside],
            head=awards.head[inside],
            direct=awards.direct[inside],
            score=awards.score[inside],
        ),
        slot=recording.slot[inside],
        turn=recording.turn[owned],
        owner=renamed[recording.owner[owned]],
        tokens=recording.tokens[kept],
        ids=chosen(recording.ids),
        histories=chosen(recording.histories),
        categories=chosen(recording.categories),
        gold_question=number[recording.gold_question[golden]],
        gold_turn=recording.gold_turn[golden],
        gold_count=recording.gold_count[wanted],
        unit=recording.unit,
        theta=recording.theta,
        key=recording.key,
    )


def _sources(rows: Ints, snapshot: Snapshot) -> tuple[Ints, Ints]:
    """Turns that each row stands for, row after row, and how many each has."""
    if not (rows >= snapshot.first[FACT]).any():  # turns and pieces have one each
        return snapshot.turn[rows], np.ones(len(rows), dtype=np.int32)
    turns = [snapshot.sources(row) for row in rows.tolist()]
    sizes = np.array([len(one) for one in turns], dtype=np.int32)
    return np.array([turn for one in turns for turn in one], dtype=np.int32), sizes


def _slots(heads: Ints) -> Ints:
    """Place of each hit in its head's list; a head's list is contiguous and begins with the head."""
    starts = np.flatnonzero(np.diff(heads, prepend=heads[:1] - 1)) if len(heads) else np.zeros(0, dtype=np.int64)
    sizes = np.diff(np.append(starts, len(heads)))
    return (np.arange(len(heads)) - np.repeat(starts, sizes)).astype(np.int32)

"""Recall recorded once, then fused under any setting in milliseconds: what makes sweeps and ablations cheap.

What tunnels find does not depend on the fusion. A recording holds it for every question at the widest setting; each
setting of weights, masses, θ, β, H, the local cut, tunnels or top-k is then array work on the same tables, by the
same functions that rank live (`sodamem.fusion`), and gives the same rankings to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sodamem import text
from sodamem.errors import ConfigError, DataError
from sodamem.evaluate import opened
from sodamem.fusion.awards import Awards, Floats, Ints, Near, gather, join
from sodamem.fusion.base import AwardFusion
from sodamem.fusion.weighted_sum import WeightedSumFusion
from sodamem.pipeline import Pipeline
from sodamem.protocols import Corpus
from sodamem.types import Question

FORMAT = 1
_CACHED = 64  # restricted tables kept: a sweep over H visits few


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Which part of a recording a setting uses. tunnels: names, None for all · heads: H by tunnel, or one for all ·
    keep: items of one head's list, the head included · top_k: evidence items handed on; None for no limit."""

    tunnels: tuple[str, ...] | None = None
    heads: int | tuple[tuple[str, int], ...] | None = None
    keep: int | None = None
    top_k: int | None = None


@dataclass(frozen=True, kw_only=True)
class Recording:
    """The awards of q questions under one unit, and what is needed to score rankings of them.

    slot: int32 [n], place of an award in its head's list, 0 for the head · turn, tokens: int32 [m], source turn and
    length of the text of each candidate · ids, histories, categories: [q] · gold_question, gold_turn: int32 [g], one
    row for every gold turn of a scored question · gold_count: int32 [q], 0 where recall is undefined · theta: the
    least cosine recorded; a setting may merge from there on.
    """

    awards: Awards
    slot: Ints
    turn: Ints
    tokens: Ints
    ids: tuple[str, ...]
    histories: tuple[str, ...]
    categories: tuple[str, ...]
    gold_question: Ints
    gold_turn: Ints
    gold_count: Ints
    unit: str
    theta: float
    key: str  # digest of the data and of everything before fusion

    def save(self, path: Path) -> None:
        """Write the arrays in one file, in place only once complete."""
        arrays: dict[str, NDArray[np.generic]] = {
            name: np.asarray(getattr(self, name)) for name in (field.name for field in fields(self)) if name != "awards"
        }
        arrays |= {
            f"awards_{f.name}": np.asarray(getattr(self.awards, f.name)) for f in fields(Awards) if f.name != "near"
        }
        arrays |= {f"near_{f.name}": getattr(self.awards.near, f.name) for f in fields(Near)}
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".partial.npz")
        np.savez(draft, format=np.array(FORMAT), **arrays)
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a recording; raises DataError in one line when the file is damaged or of another format."""
        try:
            with np.load(path, allow_pickle=False) as file:
                found = {name: file[name] for name in file.files}
            if int(found["format"]) != FORMAT:
                raise ValueError(f"format {found['format']}")
            pairs = Near(**{field.name: found[f"near_{field.name}"] for field in fields(Near)})
            columns = {f.name: found[f"awards_{f.name}"] for f in fields(Awards) if f.name not in ("near", "tunnels")}
            awards = Awards(tunnels=tuple(found["awards_tunnels"].tolist()), near=pairs, **columns)
            names = {name: tuple(found[name].tolist()) for name in ("ids", "histories", "categories")}
            arrays = {n: found[n] for n in ("slot", "turn", "tokens", "gold_question", "gold_turn", "gold_count")}
            return cls(
                awards=awards,
                unit=str(found["unit"]),
                theta=float(found["theta"]),
                key=str(found["key"]),
                **names,
                **arrays,
            )
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise DataError(f"recording {path} must be readable, got: {error}. Delete it to record again") from error


def record(pipeline: Pipeline, corpus: Corpus, *, unit: str, theta: float, key: str = "") -> Recording:
    """Recall every question of a corpus with the pipeline's tunnels, and keep what they found.

    The pipeline must be set to the widest H and keep that will be asked for; its own fusion is not used. `theta` is
    the least cosine from which a setting may merge.
    """
    parts: list[Awards] = []
    slots: list[Ints] = []
    turns: list[Ints] = []
    tokens: list[Ints] = []
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
            slots.append(np.concatenate([_slots(table.head) for table in hits.values()]))
            turns.append(snapshot.turn[parts[-1].rows])
            tokens.append(length[parts[-1].rows])
            asked.append(question)
            known = {turn: snapshot.row[turn] for turn in question.gold_turns if turn in snapshot.row}
            gold.append([] if question.exclude else list(known.values()))
    if not parts:
        raise ConfigError("dataset must hold at least one question to be recorded, got none")
    counts = [0 if question.exclude else len(set(question.gold_turns)) for question in asked]
    return Recording(
        awards=join(parts),
        slot=np.concatenate(slots),
        turn=np.concatenate(turns).astype(np.int32),
        tokens=np.concatenate(tokens).astype(np.int32),
        ids=tuple(question.id for question in asked),
        histories=tuple(question.history_id for question in asked),
        categories=tuple(question.category for question in asked),
        gold_question=np.repeat(np.arange(len(gold)), [len(rows) for rows in gold]).astype(np.int32),
        gold_turn=np.array([row for rows in gold for row in rows], dtype=np.int32),
        gold_count=np.array(counts, dtype=np.int32),
        unit=unit,
        theta=theta,
        key=key,
    )


def _slots(heads: Ints) -> Ints:
    """Place of each hit in its head's list; a head's list is contiguous and begins with the head."""
    starts = np.flatnonzero(np.diff(heads, prepend=heads[:1] - 1)) if len(heads) else np.zeros(0, dtype=np.int64)
    sizes = np.diff(np.append(starts, len(heads)))
    return (np.arange(len(heads)) - np.repeat(starts, sizes)).astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class _Table:
    """A restricted recording, laid out for scoring. keep: int64 [m], the recording's candidates that are left ·
    start: int64 [q + 1], where each question's candidates begin · column: int64 [m], place in the question by tie ·
    width: most candidates of one question · empty: bool [q, width], where a question has fewer · prepared: what fusions
    work out once."""

    awards: Awards
    keep: NDArray[np.int64]
    start: NDArray[np.int64]
    column: NDArray[np.int64]
    width: int
    empty: NDArray[np.bool_]
    prepared: dict[object, Floats]


class Replay:
    """Scores settings of a fusion over a recording. Safe to share between threads."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._table = lru_cache(maxsize=_CACHED)(self._restrict)

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """Questions for which recall is defined: bool [q]."""
        return self.recording.gold_count > 0

    def recall(self, fusion: AwardFusion, ks: Sequence[int], cut: Cut = Cut()) -> Floats:
        """Recall@k of every question at turn level, NaN where undefined: float64 [k, q]."""
        ranks = self.gold_ranks(fusion, cut)
        found = np.stack(
            [np.bincount(self.recording.gold_question, weights=ranks <= k, minlength=len(self.scored)) for k in ks]
        )
        with np.errstate(invalid="ignore"):
            return np.where(self.scored, found / self.recording.gold_count, np.nan)

    def gold_ranks(self, fusion: AwardFusion, cut: Cut = Cut()) -> Floats:
        """Rank (from 1) of every gold turn in its question's ranking of turns, inf where it is not in it: float64 [g]."""
        if isinstance(fusion, WeightedSumFusion) and fusion.unit == "turn" and fusion.theta is None and not fusion.beta:
            table = self._cut(fusion, cut)
            return self._by_counting(table, self._weighted(fusion, table), cut)
        table, confidence, leader = self._fused(fusion, cut)
        if self.recording.unit == "turn" and leader is None:
            return self._by_counting(table, self._padded(table, confidence), cut)
        return self._by_sorting(table, confidence, leader, cut)

    def evidence_tokens(self, fusion: AwardFusion, cut: Cut) -> Floats:
        """Estimated tokens of the text handed on for each question, its best `top_k` items: float64 [q]."""
        table, confidence, leader = self._fused(fusion, cut)
        order, question, place = self._sequence(table, confidence, leader)
        lead = np.ones(len(order), dtype=bool) if leader is None else leader[order] == order
        item = np.cumsum(lead) - 1
        first = item[np.searchsorted(question, question)]
        inside = lead & ((item - first) < (cut.top_k or len(order)))
        return np.bincount(
            question, weights=self.recording.tokens[table.keep][order] * inside, minlength=len(self.scored)
        )

    def ranking(self, fusion: AwardFusion, number: int, cut: Cut = Cut()) -> tuple[Ints, Floats]:
        """Snapshot rows and confidence of the items of one question, best first: what live recall would rank."""
        table, confidence, leader = self._fused(fusion, cut)
        order, question, _ = self._sequence(table, confidence, leader)
        own = order[question == number]
        own = own if leader is None else own[leader[own] == own]
        return table.awards.rows[own], confidence[own]

    # --- inside -----------------------------------------------------------------------------------------------

    def _cut(self, fusion: AwardFusion, cut: Cut) -> _Table:
        """The table of a cut, with what the fusion prepares on it; refuses what was not recorded."""
        if fusion.unit != self.recording.unit:
            raise ConfigError(
                f"fusion.unit must be the recorded {self.recording.unit}, got {fusion.unit}. Record again"
            )
        if fusion.theta is not None and fusion.theta < self.recording.theta:
            raise ConfigError(
                f"fusion.theta must be >= the recorded {self.recording.theta}, got {fusion.theta}. Record again"
            )
        table = self._table(cut.tunnels, cut.heads, cut.keep)
        if fusion.prepared_for not in table.prepared:
            table.prepared[fusion.prepared_for] = fusion.prepare(table.awards)
        return table

    def _fused(self, fusion: AwardFusion, cut: Cut) -> tuple[_Table, Floats, Ints | None]:
        """The table of a cut, the confidence of its candidates, and who leads whom (None: everybody himself)."""
        table = self._cut(fusion, cut)
        mass = fusion.mass(table.awards, table.prepared[fusion.prepared_for])
        items = fusion.merged(table.awards, fusion.value(table.awards, mass))
        merges = (items.leader != np.arange(len(items.leader))).any()
        return table, items.confidence, items.leader if merges else None

    def _restrict(
        self, tunnels: tuple[str, ...] | None, heads: int | tuple[tuple[str, int], ...] | None, keep: int | None
    ) -> _Table:
        """The recording as if only these tunnels, heads and list places had been asked for."""
        whole = self.recording.awards
        inside = np.ones(len(whole.place), dtype=bool)
        names = whole.tunnels if tunnels is None else tunnels
        if unknown := [name for name in names if name not in whole.tunnels]:
            raise ConfigError(f"tunnel must be one that was recorded ({', '.join(whole.tunnels)}), got {unknown[0]}")
        if tunnels is not None:
            inside &= np.isin(whole.tunnel, [whole.tunnels.index(name) for name in names])
        if heads is not None:
            limits = dict(heads) if isinstance(heads, tuple) else dict.fromkeys(names, heads)
            limit = np.array([limits.get(name, np.iinfo(np.int32).max) for name in whole.tunnels], dtype=np.int64)
            inside &= whole.head <= limit[whole.tunnel]
        if keep is not None:
            inside &= self.recording.slot < keep
        kept, place = np.unique(whole.place[inside], return_inverse=True)
        renamed = np.full(len(whole.rows), -1, dtype=np.int64)
        renamed[kept] = np.arange(len(kept))
        left, right = renamed[whole.near.left], renamed[whole.near.right]
        both = (left >= 0) & (right >= 0)
        order = [whole.tunnels.index(name) for name in names]
        number = np.zeros(len(whole.tunnels), dtype=np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        question = whole.question[kept]
        start = np.searchsorted(question, np.arange(len(self.scored) + 1))
        by_tie = np.lexsort((whole.tie[kept], question))
        column = np.empty(len(kept), dtype=np.int64)
        column[by_tie] = np.arange(len(kept)) - start[question[by_tie]]
        width = int(np.diff(start).max(initial=0))
        return _Table(
            empty=np.arange(width) >= np.diff(start)[:, None],
            awards=Awards(
                tunnels=tuple(names),
                strong=whole.strong[order],
                question=question,
                rows=whole.rows[kept],
                tie=whole.tie[kept],
                inside=whole.inside[kept],
                place=place.astype(np.int32),
                tunnel=number[whole.tunnel[inside]],
                head=whole.head[inside],
                direct=whole.direct[inside],
                score=whole.score[inside],
                near=Near(
                    left=left[both].astype(np.int32), right=right[both].astype(np.int32), cosine=whole.near.cosine[both]
                ),
            ),
            keep=kept,
            start=start,
            column=column,
            width=width,
            prepared={},
        )

    def _weighted(self, fusion: WeightedSumFusion, table: _Table) -> Floats:
        """What `_padded` gives for a plain weighted sum, from one dense matrix a tunnel: float64 [q, width].

        The terms are added tunnel by tunnel, as the live sum adds them, so the result is the same to the bit.
        """
        columns = self._dense(fusion, table)
        total = np.zeros(columns.shape[1:])
        term = np.empty_like(total)
        for weight, column in zip(fusion.vector(table.awards.tunnels), columns, strict=True):
            np.multiply(column, weight, out=term)
            total += term
        total = total.round(9, out=total)
        total[table.empty] = -np.inf
        return total

    def _dense(self, fusion: WeightedSumFusion, table: _Table) -> Floats:
        key = ("dense", fusion.prepared_for)
        if key not in table.prepared:
            awards = table.awards
            columns = np.zeros((len(awards.tunnels), len(self.scored), table.width))
            kept = np.flatnonzero(table.prepared[fusion.prepared_for])
            place = awards.place[kept]
            columns[awards.tunnel[kept], awards.question[place], table.column[place]] = table.prepared[
                fusion.prepared_for
            ][kept]
            table.prepared[key] = columns
        return table.prepared[key]

    def _padded(self, table: _Table, confidence: Floats) -> Floats:
        """Confidence by question and tie, -inf where there is no candidate: float64 [q, width]."""
        padded = np.full((len(self.scored), table.width), -np.inf)
        padded[table.awards.question, table.column] = confidence
        return padded

    def _by_counting(self, table: _Table, padded: Floats, cut: Cut) -> Floats:
        """Ranks where every candidate is a turn of its own: one more than how many go before it."""
        candidate = self._gold_candidates(table)
        present = candidate >= 0
        column = table.column[candidate[present]]
        rows = padded[self.recording.gold_question[present]]
        mine = rows[np.arange(len(column)), column][:, None]
        earlier = np.arange(table.width) < column[:, None]
        before = (rows > mine).sum(axis=1) + ((rows == mine) & earlier).sum(axis=1)
        ranks = np.full(len(candidate), np.inf)
        ranks[present] = before + 1.0
        return np.where(ranks <= (cut.top_k or np.inf), ranks, np.inf)

    def _gold_candidates(self, table: _Table) -> NDArray[np.int64]:
        """The candidate of every gold turn, -1 where it is not among them: int64 [g]."""
        if "gold" not in table.prepared:
            width = int(self.recording.turn.max(initial=0)) + 1
            keys = table.awards.question.astype(np.int64) * width + self.recording.turn[table.keep]
            order = np.argsort(keys, kind="stable")
            wanted = self.recording.gold_question.astype(np.int64) * width + self.recording.gold_turn
            spot = np.searchsorted(keys[order], wanted)
            inside = spot < len(keys)
            found = np.full(len(wanted), -1, dtype=np.int64)
            found[inside] = np.where(keys[order][spot[inside]] == wanted[inside], order[spot[inside]], -1)
            table.prepared["gold"] = found  # type: ignore[assignment]
        return table.prepared["gold"]  # type: ignore[return-value]

    def _sequence(
        self, table: _Table, confidence: Floats, leader: Ints | None
    ) -> tuple[NDArray[np.int64], Ints, NDArray[np.int64]]:
        """All candidates in the order of their items, best first, question after question; members follow their leader,
        by row. Gives the order, its questions, and the item's place of each within the question."""
        chief = np.arange(len(confidence)) if leader is None else leader.astype(np.int64)
        question = table.awards.question
        keys = (table.awards.rows, chief != np.arange(len(chief)), table.column[chief], -confidence[chief], question)
        order = np.lexsort(keys)
        return order, question[order], np.arange(len(order)) - table.start[question[order]]

    def _by_sorting(self, table: _Table, confidence: Floats, leader: Ints | None, cut: Cut) -> Floats:
        """Ranks of turns where items share turns or were merged: the first place at which a turn occurs."""
        order, question, _ = self._sequence(table, confidence, leader)
        if cut.top_k is not None:
            lead = np.ones(len(order), dtype=bool) if leader is None else leader[order] == order
            item = np.cumsum(lead) - 1
            inside = (item - item[np.searchsorted(question, question)]) < cut.top_k
            order, question = order[inside], question[inside]
        width = int(self.recording.turn.max(initial=0)) + 1
        keys = question.astype(np.int64) * width + self.recording.turn[table.keep][order]
        known, first = np.unique(keys, return_index=True)
        fresh = np.zeros(len(keys) + 1, dtype=np.int64)
        fresh[1:][first] = 1
        count = np.cumsum(fresh)  # distinct turns up to and including each place, over all questions
        begin = np.searchsorted(question, np.arange(len(self.scored)))
        wanted = self.recording.gold_question.astype(np.int64) * width + self.recording.gold_turn
        spot = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        hit = known[spot] == wanted if len(known) else np.zeros(len(wanted), dtype=bool)
        ranks = (
            count[first[spot] + 1] - count[begin[self.recording.gold_question]] if len(known) else np.zeros(len(wanted))
        )
        return np.where(hit, ranks, np.inf).astype(np.float64)


def mean(recalls: Floats) -> float:
    """Mean over the questions that define recall."""
    return float(np.nanmean(recalls))


def settings_digest(values: Mapping[str, object]) -> str:
    """A short digest of the settings a recording depends on."""
    return text.digest(FORMAT, dict(values))[:24]

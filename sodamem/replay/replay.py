"""Recorded recall fused under any setting in milliseconds: what makes sweeps and ablations cheap.

Each setting of weights, masses, θ, β, H, the local cut, tunnels or top-k is array work on the same recorded tables, by
the same functions that rank live (`sodamem.fusion`), and gives the same rankings to the bit.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Awards, Floats, Ints, Near
from sodamem.fusion.base import AwardFusion
from sodamem.fusion.weighted_sum import WeightedSumFusion
from sodamem.replay.recording import Recording

Limit = int | tuple[tuple[str, int | None], ...] | None
_BUDGET = 300_000_000  # bytes of restricted tables kept: a sweep over H visits few, and comes back to them


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Which part of a recording a setting uses. tunnels: names, None for all · heads: H by tunnel, or one for all ·
    keep: items of one head's list, the head included, likewise · top_k: evidence items handed on; None for no limit."""

    tunnels: tuple[str, ...] | None = None
    heads: Limit = None
    keep: Limit = None
    top_k: int | None = None


@dataclass(frozen=True, kw_only=True)
class _Table:
    """A restricted recording, laid out for scoring. keep: int64 [m], the recording's candidates that are left ·
    start: int64 [q + 1], where each question's candidates begin · column: int64 [m], place in the question by tie ·
    width: most candidates of one question · empty: bool [q, width], where a question has fewer · turn: int32 [s],
    the turns of all candidates, those of candidate i at `first[i]:first[i + 1]` · prepared: what is worked out once."""

    awards: Awards
    keep: NDArray[np.int64]
    start: NDArray[np.int64]
    column: NDArray[np.int64]
    width: int
    empty: NDArray[np.bool_]
    turn: Ints
    first: NDArray[np.int64]
    prepared: dict[Hashable, NDArray[np.generic]]

    @property
    def size(self) -> int:
        """Bytes held, roughly."""
        held = (self.keep, self.start, self.column, self.empty, self.turn, self.first, *self.prepared.values())
        columns = (getattr(self.awards, name) for name in ("place", "tunnel", "head", "direct", "score", "rows", "tie"))
        return sum(array.nbytes for array in (*held, *columns))


class Replay:
    """Scores settings of a fusion over a recording. Safe to share between threads."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._tables: OrderedDict[Hashable, _Table] = OrderedDict()
        self._lock = threading.RLock()

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """Questions for which recall is defined: bool [q]."""
        return self.recording.gold_count > 0

    def recall(self, fusion: AwardFusion, ks: Sequence[int], cut: Cut = Cut()) -> Floats:
        """Recall@k of every question at turn level, NaN where undefined: float64 [k, q]."""
        ranks = self.gold_ranks(fusion, cut)
        return np.stack([self.over_gold((ranks <= k).astype(np.float64)) for k in ks])

    def over_gold(self, values: Floats) -> Floats:
        """Mean of a value over each question's gold turns, one that was never stored counting 0: float64 [q]."""
        total = np.bincount(self.recording.gold_question, weights=values, minlength=len(self.scored))
        with np.errstate(invalid="ignore"):
            return np.where(self.scored, total / self.recording.gold_count, np.nan)

    def gold_ranks(self, fusion: AwardFusion, cut: Cut = Cut()) -> Floats:
        """Rank (from 1) of every gold turn in its question's ranking of turns, inf where it is absent: float64 [g]."""
        turns = self.recording.unit == "turn"
        if turns and (plain := self._plain(fusion, cut)) is not None:
            return self._by_counting(*plain, cut)
        table, confidence, leader, worth = self._fused(fusion, cut)
        if turns and leader is None:
            return self._by_counting(table, self._padded(table, confidence), cut)
        return self._by_sorting(table, self._sequence(table, confidence, leader, worth), leader, cut)

    def evidence_tokens(self, fusion: AwardFusion, cut: Cut) -> Floats:
        """Estimated tokens of the text handed on for each question, its best `top_k` items: float64 [q]."""
        if (plain := self._plain(fusion, cut)) is not None:
            table, padded = plain
            best = np.argsort(-padded, axis=1, kind="stable")[:, : cut.top_k]
            tokens = self._padded(table, self.recording.tokens[table.keep].astype(np.float64), 0.0)
            return np.asarray(np.take_along_axis(tokens, best, axis=1).sum(axis=1), dtype=np.float64)
        table, confidence, leader, worth = self._fused(fusion, cut)
        order = self._sequence(table, confidence, leader, worth)
        question = table.awards.question[order]
        lead, place = _items(order, leader, question)
        inside = lead & (place < (cut.top_k or len(order)))
        tokens = np.where(inside, self.recording.tokens[table.keep][order], 0.0)
        return np.asarray(np.bincount(question, weights=tokens, minlength=len(self.scored)), dtype=np.float64)

    def ranking(self, fusion: AwardFusion, number: int, cut: Cut = Cut()) -> tuple[Ints, Floats]:
        """Snapshot rows and confidence of the items of one question, best first: what live recall would rank."""
        table, confidence, leader, worth = self._fused(fusion, cut)
        order = self._sequence(table, confidence, leader, worth)
        own = order[table.awards.question[order] == number]
        own = own if leader is None else own[leader[own] == own]
        return table.awards.rows[own], confidence[own]

    # --- inside -----------------------------------------------------------------------------------------------

    def _plain(self, fusion: AwardFusion, cut: Cut) -> tuple[_Table, Floats] | None:
        """The table of a cut and the confidence of its candidates by question and tie; None where some are merged."""
        if isinstance(fusion, WeightedSumFusion) and fusion.theta is None and not fusion.beta:
            table = self._cut(fusion, cut)
            return table, self._weighted(fusion, table)
        if fusion.theta is not None:
            return None
        table, confidence, _, _ = self._fused(fusion, cut)
        return table, self._padded(table, confidence)

    def _cut(self, fusion: AwardFusion, cut: Cut) -> _Table:
        """The table of a cut, with what the fusion prepares on it; refuses what was not recorded."""
        recorded = self.recording
        if fusion.unit != recorded.unit:
            raise ConfigError(f"fusion.unit must be the recorded {recorded.unit}, got {fusion.unit}. Record again")
        if fusion.theta is not None and (recorded.theta is None or fusion.theta < recorded.theta):
            raise ConfigError(
                f"fusion.theta must be >= the recorded {recorded.theta}, got {fusion.theta}. Record again"
            )
        with self._lock:
            key = (cut.tunnels, cut.heads, cut.keep)
            if key not in self._tables:
                self._tables[key] = self._restrict(cut)
            self._tables.move_to_end(key)
            table = self._tables[key]
            if fusion.prepared_for not in table.prepared:
                table.prepared[fusion.prepared_for] = fusion.prepare(table.awards)
                while len(self._tables) > 1 and sum(one.size for one in self._tables.values()) > _BUDGET:
                    self._tables.popitem(last=False)
        return table

    def _fused(self, fusion: AwardFusion, cut: Cut) -> tuple[_Table, Floats, Ints | None, Floats]:
        """The table of a cut, the confidence of its candidates, who leads whom (None: everybody himself), and what
        each candidate is worth alone."""
        table = self._cut(fusion, cut)
        mass = fusion.mass(table.awards, table.prepared[fusion.prepared_for])  # type: ignore[arg-type]
        value = fusion.value(table.awards, mass)
        items = fusion.merged(table.awards, value)
        merges = (items.leader != np.arange(len(items.leader))).any()
        worth = table.awards.total(mass) if merges else value
        return table, items.confidence, items.leader if merges else None, worth

    def _restrict(self, cut: Cut) -> _Table:
        """The recording as if only these tunnels, heads and list places had been asked for."""
        whole = self.recording.awards
        names = whole.tunnels if cut.tunnels is None else cut.tunnels
        if unknown := [name for name in names if name not in whole.tunnels]:
            raise ConfigError(f"tunnel must be one that was recorded ({', '.join(whole.tunnels)}), got {unknown[0]}")
        taken = [whole.tunnels.index(name) for name in names]
        number = np.full(len(whole.tunnels), -1, dtype=np.int32)
        number[taken] = np.arange(len(taken), dtype=np.int32)
        inside = number[whole.tunnel] >= 0
        inside &= whole.head <= _limits(cut.heads, whole.tunnels)[whole.tunnel]
        inside &= self.recording.slot < _limits(cut.keep, whole.tunnels)[whole.tunnel]
        award = np.flatnonzero(inside)
        if taken != sorted(taken):  # sums are taken in the order of the tunnels, which is then another
            award = award[np.lexsort((award, number[whole.tunnel[award]], whole.question[whole.place[award]]))]
        kept, place = np.unique(whole.place[award], return_inverse=True)
        renamed = np.full(len(whole.rows), -1, dtype=np.int64)
        renamed[kept] = np.arange(len(kept))
        left, right = renamed[whole.near.left], renamed[whole.near.right]
        both = (left >= 0) & (right >= 0)
        question = whole.question[kept]
        start = np.searchsorted(question, np.arange(len(self.scored) + 1))
        by_tie = np.lexsort((whole.tie[kept], question))
        column = np.empty(len(kept), dtype=np.int64)
        column[by_tie] = np.arange(len(kept)) - start[question[by_tie]]
        width = int(np.diff(start).max(initial=0))
        owner = renamed[self.recording.owner]
        return _Table(
            awards=Awards(
                tunnels=tuple(names),
                strong=whole.strong[taken],
                question=question,
                rows=whole.rows[kept],
                tie=whole.tie[kept],
                inside=whole.inside[kept],
                place=place.astype(np.int32),
                tunnel=number[whole.tunnel[award]],
                head=whole.head[award],
                direct=whole.direct[award],
                score=whole.score[award],
                near=Near(
                    left=left[both].astype(np.int32), right=right[both].astype(np.int32), cosine=whole.near.cosine[both]
                ),
            ),
            keep=kept.astype(np.int64),
            start=start,
            column=column,
            width=width,
            empty=np.arange(width) >= np.diff(start)[:, None],
            turn=self.recording.turn[owner >= 0],
            first=np.searchsorted(owner[owner >= 0], np.arange(len(kept) + 1)),
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
            if weight:
                np.multiply(column, weight, out=term)
                total += term
        total = total.round(9, out=total)
        total[table.empty] = -np.inf
        return total

    def _dense(self, fusion: WeightedSumFusion, table: _Table) -> Floats:
        key = ("dense", fusion.prepared_for)
        with self._lock:
            if key not in table.prepared:
                awards, values = table.awards, table.prepared[fusion.prepared_for]
                columns = np.zeros((len(awards.tunnels), len(self.scored), table.width))
                kept = np.flatnonzero(values)
                place = awards.place[kept]
                columns[awards.tunnel[kept], awards.question[place], table.column[place]] = values[kept]
                table.prepared[key] = columns
        return table.prepared[key]  # type: ignore[return-value]

    def _padded(self, table: _Table, values: Floats, empty: float = -np.inf) -> Floats:
        """Values of candidates by question and tie, `empty` where there is no candidate: float64 [q, width]."""
        padded = np.full((len(self.scored), table.width), empty)
        padded[table.awards.question, table.column] = values
        return padded

    def _by_counting(self, table: _Table, padded: Floats, cut: Cut) -> Floats:
        """Ranks where every candidate is a turn of its own: one more than how many go before it."""
        candidate = self._gold_candidates(table)
        present = candidate >= 0
        column = table.column[candidate[present]]
        rows = padded[self.recording.gold_question[present]]
        mine = rows[np.arange(len(column)), column][:, None]
        earlier = np.arange(table.width) < column[:, None]
        before = np.count_nonzero(rows > mine, axis=1) + np.count_nonzero((rows == mine) & earlier, axis=1)
        ranks = np.full(len(candidate), np.inf)
        ranks[present] = before + 1.0
        return np.where(ranks <= (cut.top_k or np.inf), ranks, np.inf)

    def _gold_candidates(self, table: _Table) -> NDArray[np.int64]:
        """The candidate of every gold turn, -1 where it is not among them: int64 [g]."""
        with self._lock:
            if "gold" not in table.prepared:
                keys, wanted = self._keys(table.awards.question, table.turn)
                order = np.argsort(keys, kind="stable")
                spot = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
                found = np.full(len(wanted), -1, dtype=np.int64)
                if len(keys):
                    found = np.where(keys[order][spot] == wanted, order[spot], -1)
                table.prepared["gold"] = found
        return table.prepared["gold"]  # type: ignore[return-value]

    def _keys(self, question: Ints, turn: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """One number for each (question, turn): of these, and of the gold."""
        width = int(max(self.recording.turn.max(initial=0), self.recording.gold_turn.max(initial=0))) + 1
        gold = self.recording.gold_question.astype(np.int64) * width + self.recording.gold_turn
        return question.astype(np.int64) * width + turn, gold

    def _sequence(self, table: _Table, confidence: Floats, leader: Ints | None, worth: Floats) -> NDArray[np.int64]:
        """All candidates in the order of their items, best first, question after question: int64 [m]. The members of an
        item follow its leader, most worth first."""
        question = table.awards.question
        if leader is None:
            return np.lexsort((table.column, -confidence, question))
        follows = leader != np.arange(len(leader))
        return np.lexsort((table.awards.rows, -worth, follows, table.column[leader], -confidence[leader], question))

    def _by_sorting(self, table: _Table, order: NDArray[np.int64], leader: Ints | None, cut: Cut) -> Floats:
        """Ranks of turns where items share turns or were merged: the first place at which a turn occurs."""
        question = table.awards.question[order]
        if cut.top_k is not None:
            _, place = _items(order, leader, question)
            order = order[place < cut.top_k]
        sizes = table.first[order + 1] - table.first[order]
        ends = np.cumsum(sizes)
        source = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(table.first[order] - ends + sizes, sizes)
        question = np.repeat(table.awards.question[order], sizes)
        keys, wanted = self._keys(question, table.turn[source])
        if not len(keys):
            return np.full(len(wanted), np.inf)
        known, first = np.unique(keys, return_index=True)
        count = np.zeros(len(keys) + 1, dtype=np.int64)
        count[1:][first] = 1
        count = np.cumsum(count)  # distinct turns before each place, over all questions
        begin = np.searchsorted(question, np.arange(len(self.scored)))
        spot = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        ranks = count[first[spot] + 1] - count[begin[self.recording.gold_question]]
        return np.where(known[spot] == wanted, ranks, np.inf).astype(np.float64)


def _limits(limit: Limit, tunnels: tuple[str, ...]) -> NDArray[np.int64]:
    """The limit of each tunnel: int64 [t]."""
    most = np.iinfo(np.int32).max
    by_name: Mapping[str, int | None] = dict(limit) if isinstance(limit, tuple) else dict.fromkeys(tunnels, limit)
    values = [by_name.get(name) for name in tunnels]
    return np.array([most if value is None else value for value in values], dtype=np.int64)


def _items(
    order: NDArray[np.int64], leader: Ints | None, question: Ints
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which candidates of a sequence lead an item, and the place (from 0) of each one's item in its question."""
    lead = np.ones(len(order), dtype=bool) if leader is None else leader[order] == order
    item = np.cumsum(lead) - 1
    return lead, item - item[np.searchsorted(question, question)]


def mean(recalls: Floats) -> float:
    """Mean over the questions that define recall."""
    return float(np.nanmean(recalls))

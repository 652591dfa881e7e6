"""The table of awards that every fusion starts from (paper section 4.5): one question's live, many in replay.

An award is a (tunnel, head, hit) triple. A candidate is an item, or with unit `turn` a turn, that some award names.
All work is on arrays, so that a thousand questions are fused by the same code, to the same bits, as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.store.snapshot import Snapshot
from sodamem.types import Hits, Query

UNITS = ("item", "turn")
Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Near:
    """Pairs of candidates (left < right) of one question and their cosine, rounded to six decimals: [p] each."""

    left: Ints
    right: Ints
    cosine: Floats


@dataclass(frozen=True, kw_only=True)
class Awards:
    """n awards on m candidates of one or more questions.

    tunnels, strong: [t], names and whether each is strong · question: int32 [m], ascending · rows: int32 [m], rows in
    the snapshot, ascending within a question · tie: int32 [m], who goes first among equals of a question: nearness in
    time by δ, then id · inside: bool [m], meets the question's window · place: int32 [n], the candidate of an award ·
    tunnel, head: int32 [n] · direct: bool [n] · score: float64 [n], as the tunnel gave it · near: pairs that a merge
    by cosine may join.
    """

    tunnels: tuple[str, ...]
    strong: NDArray[np.bool_]
    question: Ints
    rows: Ints
    tie: Ints
    inside: NDArray[np.bool_]
    place: Ints
    tunnel: Ints
    head: Ints
    direct: NDArray[np.bool_]
    score: Floats
    near: Near

    def total(self, mass: Floats) -> Floats:
        """Sum of the mass on each candidate, in the order of the table so that it is reproducible: float64 [m]."""
        return np.bincount(self.place, weights=mass, minlength=len(self.rows)).astype(np.float64)


def gather(
    query: Query,
    hits: Mapping[str, Hits],
    strengths: Mapping[str, str],
    snapshot: Snapshot,
    *,
    unit: str,
    theta: float | None,
) -> Awards:
    """The awards of one question; pairs of candidates are compared when `theta` is set, from that cosine on."""
    tables = list(hits.values())
    item = np.concatenate([table.item for table in tables], dtype=np.int32)
    if unit == "turn":
        item = snapshot.turn[item]
    rows, place = np.unique(item, return_inverse=True)
    distance = np.abs(snapshot.start[rows] - np.datetime64(query.asked_at, "s")).astype(np.int64)
    nearness = distance if query.window.order == "near_to_far" else -distance
    tie = np.empty(len(rows), dtype=np.int32)
    tie[np.lexsort((snapshot.id_rank[rows], nearness))] = np.arange(len(rows), dtype=np.int32)
    return Awards(
        tunnels=tuple(hits),
        strong=np.array([strengths.get(name) == "strong" for name in hits], dtype=bool),
        question=np.zeros(len(rows), dtype=np.int32),
        rows=rows.astype(np.int32),
        tie=tie,
        inside=snapshot.meets(rows, query.window.interval),
        place=place.astype(np.int32),
        tunnel=np.repeat(np.arange(len(tables), dtype=np.int32), [len(table) for table in tables]),
        head=np.concatenate([table.head for table in tables], dtype=np.int32),
        direct=np.concatenate([table.direct for table in tables], dtype=np.bool_, casting="unsafe"),
        score=np.concatenate([table.score for table in tables], dtype=np.float64),
        near=near(snapshot.vectors(rows), theta) if theta is not None and len(rows) else near(np.zeros((0, 1)), 1.0),
    )


def near(vectors: NDArray[np.floating], least: float) -> Near:
    """Pairs of unit vectors [m, d] with a cosine of at least `least`."""
    cosine: Floats = np.asarray(vectors @ vectors.T, dtype=np.float64).round(6)
    left, right = np.nonzero(np.triu(cosine >= least, k=1))
    return Near(left=left.astype(np.int32), right=right.astype(np.int32), cosine=cosine[left, right])


def join(parts: Sequence[Awards]) -> Awards:
    """The awards of several questions in one table; the questions are numbered in the order given."""
    starts = np.cumsum([0, *(len(part.rows) for part in parts)])[:-1].astype(np.int32)

    def column(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(part, name) for part in parts])

    numbers = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.rows) for part in parts])
    pairs = [(part.near, start) for part, start in zip(parts, starts, strict=True)]
    shared = {name: column(name) for name in ("rows", "tie", "inside", "tunnel", "head", "direct", "score")}
    return Awards(
        tunnels=parts[0].tunnels,
        strong=parts[0].strong,
        question=numbers,
        place=np.concatenate([part.place + start for part, start in zip(parts, starts, strict=True)], dtype=np.int32),
        near=Near(
            left=np.concatenate([pair.left + start for pair, start in pairs], dtype=np.int32),
            right=np.concatenate([pair.right + start for pair, start in pairs], dtype=np.int32),
            cosine=np.concatenate([pair.cosine for pair, _ in pairs], dtype=np.float64),
        ),
        **shared,  # type: ignore[arg-type]
    )


def check(unit: str, theta: float | None, beta: float) -> None:
    """Ranges that all fusions share."""
    if unit not in UNITS:
        raise ConfigError(f"fusion.unit must be one of {', '.join(UNITS)}, got {unit!r}")
    if theta is not None and not 0 < theta <= 1:
        raise ConfigError(f"fusion.theta must be above 0 and at most 1, or null to merge by id only, got {theta}")
    if not beta >= 0:
        raise ConfigError(f"fusion.beta must be >= 0, got {beta}")

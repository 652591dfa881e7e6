"""The table of awards that every fusion starts from, and the ranking that every fusion ends with (section 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.store.snapshot import Snapshot
from sodamem.types import Hits, Query, Ranking

UNITS = ("item", "turn")
_ROUND = 9  # decimals of a sum: the digits below depend on the order of summation, which must not decide a rank


@dataclass(frozen=True, kw_only=True)
class Awards:
    """Hits of all tunnels in one table of n rows; `place` says which of the m candidates a row belongs to.

    rows: int32 [m], the candidates' rows in the snapshot, ascending · place, tunnel, head: int32 [n] · direct:
    bool [n] · score: float64 [n], as the tunnel gave it.
    """

    tunnels: tuple[str, ...]
    rows: NDArray[np.int32]
    place: NDArray[np.int32]
    tunnel: NDArray[np.int32]
    head: NDArray[np.int32]
    direct: NDArray[np.bool_]
    score: NDArray[np.float64]


def gather(hits: Mapping[str, Hits], snapshot: Snapshot, unit: str) -> Awards:
    """One table of the hits of at least one tunnel. With unit `turn`, pieces and facts count for the turn their words come from."""
    tables = list(hits.values())
    item = np.concatenate([table.item for table in tables], dtype=np.int32)
    if unit == "turn":
        item = snapshot.turn[item]
    rows, place = np.unique(item, return_inverse=True)
    return Awards(
        tunnels=tuple(hits),
        rows=rows.astype(np.int32),
        place=place.astype(np.int32),
        tunnel=np.repeat(np.arange(len(tables), dtype=np.int32), [len(table) for table in tables]),
        head=np.concatenate([table.head for table in tables], dtype=np.int32),
        direct=np.concatenate([table.direct for table in tables], dtype=np.bool_, casting="unsafe"),
        score=np.concatenate([table.score for table in tables], dtype=np.float64),
    )


def rank(
    awards: Awards,
    mass: NDArray[np.float64],
    value: NDArray[np.float64],
    *,
    query: Query,
    snapshot: Snapshot,
    theta: float | None,
    beta: float,
    squash: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
) -> Ranking:
    """Merge near-duplicates, add the time bonus, sort.

    mass: float64 [n], what each award is worth (for the report) · value: float64 [m], what each candidate is worth ·
    theta: cosine from which two candidates are one item, whose value is the sum of theirs; null merges by id only ·
    beta: bonus of an item with a member inside the question's window, once per merged item · squash: applied to the
    summed value of each item, before the bonus.
    """
    value = np.round(value, _ROUND)
    leader = merge(awards.rows, value, snapshot, theta)
    leaders, group = np.unique(leader, return_inverse=True)
    density = total(group, value, len(leaders))
    if squash is not None:
        density = squash(density)
    inside = np.zeros(len(leaders), dtype=bool)
    np.logical_or.at(inside, group, snapshot.meets(awards.rows, query.window.interval))
    bonus = beta * inside
    confidence = np.round(density + bonus, _ROUND)
    rows = awards.rows[leaders]
    distance = np.abs(snapshot.start[rows] - np.datetime64(query.asked_at, "s")).astype(np.int64)
    nearness = distance if query.window.order == "near_to_far" else -distance
    order = np.lexsort((snapshot.id_rank[rows], nearness, -confidence))
    rank_of = np.empty(len(order), dtype=np.int32)
    rank_of[order] = np.arange(len(order), dtype=np.int32)
    place = rank_of[group]
    by_item = np.lexsort((awards.rows, -value, awards.rows != rows[group], place))
    return Ranking(
        item=rows[order],
        confidence=confidence[order],
        bonus=bonus[order],
        member=awards.rows[by_item],
        bounds=np.searchsorted(place[by_item], np.arange(len(order) + 1)),
        tunnels=awards.tunnels,
        award_place=place[awards.place],
        award_tunnel=awards.tunnel,
        award_head=awards.head,
        award_direct=awards.direct,
        award_mass=mass,
    )


def total(place: NDArray[Any], mass: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Sum of mass at each place: float64 [count]. Summed in the order of the table, so it is reproducible."""
    return np.bincount(place, weights=mass, minlength=count).astype(np.float64)


def merge(
    rows: NDArray[np.int32], value: NDArray[np.float64], snapshot: Snapshot, theta: float | None
) -> NDArray[np.int64]:
    """For each candidate the place of its leader: int64 [m].

    Leader clustering: candidates are visited from the most valuable down (ties by row); one that no earlier leader
    has absorbed leads, and absorbs every later one whose cosine with it is at least theta. Deterministic, and an
    item is never merged through a chain of others it does not resemble.
    """
    leader = np.arange(len(rows))
    if theta is None or len(rows) < 2:
        return leader
    vectors = snapshot.vectors(rows)
    alike = np.round(vectors @ vectors.T, 6) >= theta
    taken = np.zeros(len(rows), dtype=bool)
    for place in np.lexsort((rows, -value)):
        if not taken[place]:
            absorbed = alike[place] & ~taken
            leader[absorbed] = place
            leader[place] = place
            taken |= absorbed
            taken[place] = True
    return leader


def check(unit: str, theta: float | None, beta: float) -> None:
    """Ranges that all fusions share."""
    if unit not in UNITS:
        raise ConfigError(f"fusion.unit must be one of {', '.join(UNITS)}, got {unit!r}")
    if theta is not None and not 0 < theta <= 1:
        raise ConfigError(f"fusion.theta must be above 0 and at most 1, or null to merge by id only, got {theta}")
    if not beta >= 0:
        raise ConfigError(f"fusion.beta must be >= 0, got {beta}")

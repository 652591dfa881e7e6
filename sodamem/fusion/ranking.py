"""From what candidates are worth to a ranking: merge near-duplicates, add the time bonus, sort (paper section 4.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodamem.fusion.awards import Awards, Floats, Ints
from sodamem.types import Ranking

_ROUND = 9  # decimals of a sum: the digits below depend on the order of summation, which must not decide a rank


@dataclass(frozen=True, kw_only=True)
class Merged:
    """Candidates as items. leader: int32 [m], each candidate's leading candidate (itself if it leads) · confidence,
    bonus: float64 [m], valid at leaders."""

    leader: Ints
    confidence: Floats
    bonus: Floats


def merged(
    awards: Awards, value: Floats, theta: float | None, beta: float, squash: Callable[[Floats], Floats] | None = None
) -> Merged:
    """What every item is worth.

    value: float64 [m], what each candidate is worth · theta: cosine from which two candidates are one item, whose
    value is the sum of theirs; None merges by id only · beta: bonus of an item with a member inside the question's
    window, once per item · squash: applied to the summed value, before the bonus.
    """
    value = alone = value.round(_ROUND)
    leader = np.arange(len(value), dtype=np.int32)
    inside = awards.inside
    if theta is not None and (awards.near.cosine >= theta).any():
        leader = lead(awards, value, theta)
        value = np.bincount(leader, weights=value, minlength=len(value)).astype(np.float64)
        inside = np.bincount(leader, weights=inside, minlength=len(value)) > 0
    bonus: Floats = np.zeros(len(value))
    if not beta and squash is None:
        return Merged(leader=leader, confidence=value if value is alone else value.round(_ROUND), bonus=bonus)
    bonus[inside] = beta
    confidence: Floats = (squash(value) if squash else value) + bonus
    return Merged(leader=leader, confidence=confidence.round(_ROUND), bonus=bonus)


def lead(awards: Awards, value: Floats, theta: float) -> Ints:
    """Leader clustering: int32 [m], for each candidate the one that leads it.

    Candidates of a question are visited from the most valuable down (ties by row); one that no earlier leader has
    absorbed leads, and absorbs every later one whose cosine with it is at least theta. So an item is never merged
    through a chain of others that it does not resemble. Computed in rounds over all questions at once: in each round
    whoever has no better undecided neighbour leads, and its neighbours are absorbed.
    """
    order = np.lexsort((awards.rows, -value))
    priority = np.empty(len(order), dtype=np.int64)
    priority[order] = np.arange(len(order))
    close = awards.near.cosine >= theta
    left, right = awards.near.left[close], awards.near.right[close]
    swap = priority[left] > priority[right]
    better, worse = np.where(swap, right, left), np.where(swap, left, right)
    undecided = np.ones(len(value), dtype=bool)
    leads = np.zeros(len(value), dtype=bool)
    best = np.full(len(value), len(value), dtype=np.int64)  # priority of the best leader beside each candidate
    while len(better):
        blocked = np.zeros(len(value), dtype=bool)
        blocked[worse] = True
        new = undecided & ~blocked
        leads |= new
        absorbing = new[better]
        np.minimum.at(best, worse[absorbing], priority[better[absorbing]])
        undecided &= ~new
        undecided[worse[absorbing]] = False
        live = undecided[better]  # whoever is absorbed already may still have a better leader
        better, worse = better[live], worse[live]
    leads |= undecided
    found = np.where(leads, np.arange(len(value)), order[np.minimum(best, len(value) - 1)])
    return found.astype(np.int32)


def ranking(awards: Awards, mass: Floats, items: Merged) -> Ranking:
    """The ranking of one question's items. mass: float64 [n], what each award is worth, for the report."""
    leaders = np.flatnonzero(items.leader == np.arange(len(items.leader)))
    lead = leaders[np.lexsort((awards.tie[leaders], -items.confidence[leaders]))]
    rank: NDArray[np.int32] = np.empty(len(items.leader), dtype=np.int32)
    rank[lead] = np.arange(len(lead), dtype=np.int32)
    place = rank[items.leader]
    worth = awards.total(mass).round(_ROUND)
    by_item = np.lexsort((awards.rows, -worth, items.leader != np.arange(len(place)), place))
    return Ranking(
        item=awards.rows[lead],
        confidence=items.confidence[lead],
        bonus=items.bonus[lead],
        member=awards.rows[by_item],
        bounds=np.searchsorted(place[by_item], np.arange(len(lead) + 1)),
        tunnels=awards.tunnels,
        award_place=place[awards.place],
        award_tunnel=awards.tunnel,
        award_head=awards.head,
        award_direct=awards.direct,
        award_mass=mass,
    )

"""Citations checked against the pool: a quote must stand in the evidence it names (paper section 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sodamem.types import Answer, Evidence


def verified(answer: Answer, evidence: Sequence[Evidence]) -> Answer:
    """The answer with only the citations that hold; one that is left without any is marked `uncited`.

    A citation holds when its evidence is in the pool, stands for the turn it names, and contains the quote word for
    word. An abstention needs no citation.
    """
    pool = {item.id: item for item in evidence}
    kept = tuple(
        citation
        for citation in answer.citations
        if (item := pool.get(citation.evidence_id))
        and citation.turn_id in item.turn_ids
        and citation.quote.strip()
        and any(citation.quote in source for source in item.quotable)
    )
    status = "uncited" if not kept and not answer.abstained and answer.status == "ok" else answer.status
    return replace(answer, citations=kept, status=status)

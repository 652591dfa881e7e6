"""A model adjudicates the pairs of facts that the slots select; everything else stands as the rules have it.

After arXiv 2608.08055 section 4.4. Which pairs are asked about never depends on a model, so the
number of calls is bounded by the number of facts (getzep/graphiti#1728).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

from sodamem import prompts
from sodamem.currency.claims import as_extracted
from sodamem.currency.slots import SlotCurrency
from sodamem.errors import ConfigError, PromptError, ReplyError
from sodamem.facts import asserts, effective
from sodamem.fence import Fence, one_line, record
from sodamem.protocols import Chat, Currency
from sodamem.rendering import reading, stamp
from sodamem.types import ChatRequest, Edge, FactEvent, Message

Ruling = Literal["both_hold", "replaces", "corrects", "refines", "same", "unknown"]
VERDICTS = ("both_hold", "replaces", "corrects", "refines", "same")
CONFLICT = "possible_conflict"
# Reasons first: asked for a verdict at once, a small model takes "sold it" and "owns it" for both true (graphiti#1666).
SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "verdict": {"type": "string", "enum": list(VERDICTS)},
    },
    "required": ["reasoning", "verdict"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class LlmCurrency(Currency):
    """rules: the slots that select pairs, and decide where no verdict is asked for · max_tokens: of a reply ·
    salt: see fence.Fence.

    Asked about is each fact that the rules close in favour of another, and neighbours in time among those they flag.
    """

    chat: Chat
    rules: SlotCurrency
    prompt: str
    max_tokens: int
    salt: str

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ConfigError(f"currency.max_tokens must be >= 1, got {self.max_tokens}")
        if self.prompt not in prompts.names():
            raise ConfigError(f"currency.prompt must be one of {', '.join(prompts.names())}, got {self.prompt!r}")

    @cached_property
    def _system(self) -> Message:
        return Message(role="system", content=prompts.load(self.prompt))

    def resolve(self, facts: Sequence[FactEvent]) -> tuple[tuple[FactEvent, ...], tuple[Edge, ...]]:
        """The facts as the rules resolve them, with the model's verdict on the pairs; the same for any order of facts.

        A verdict that cannot be had of a model that answers keeps both facts and flags them `possible_conflict`. Raises
        ModelError when the model does not answer: nothing is decided by an outage.
        """
        plain = as_extracted(facts)
        ruled, edges = self.rules.resolve(plain)
        docket = _Docket(
            extracted={fact.id: fact for fact in plain}, facts={fact.id: fact for fact in ruled}, edges=[*edges]
        )
        for edge in [edge for edge in edges if edge.kind == "SUPERSEDES"]:
            docket.closed(edge, self._ask(docket.extracted[edge.source], docket.extracted[edge.target]))
        for earlier, later in self._flagged(ruled):
            docket.flagged(earlier, later, self._ask(later, earlier))
        docket.clear()
        return tuple(docket.facts[fact.id] for fact in ruled), tuple(docket.edges)

    def _flagged(self, facts: Sequence[FactEvent]) -> Iterator[tuple[FactEvent, FactEvent]]:
        """Neighbours in effective time within one unknown slot, the earlier first."""
        slots: dict[tuple[str, str], list[FactEvent]] = defaultdict(list)
        for fact in facts:
            if CONFLICT in fact.flags and asserts(fact):
                slots[fact.subject, self.rules.aliases.get(fact.predicate, fact.predicate)].append(fact)
        for held in slots.values():
            ordered = sorted(held, key=lambda fact: (effective(fact), fact.order, fact.id))
            yield from pairwise(ordered)

    def _ask(self, later: FactEvent, earlier: FactEvent) -> Ruling:
        """The verdict on one pair. The prompt holds words and times but no ids, so equal pairs are asked about once."""
        records = [_shown("earlier", earlier), _shown("later", later)]
        fence = Fence.around(self.salt, *records, contents=records)
        asked = Message(
            role="user", content=f"{fence.said}\n{fence.block(records)}\nHow does the later bear on the earlier?"
        )
        request = ChatRequest(
            phase="adjudicate", messages=(self._system, asked), max_tokens=self.max_tokens, schema=SCHEMA
        )
        try:
            reply = self.chat.ask(request)
        except (ReplyError, PromptError):
            return "unknown"
        if reply.truncated or not isinstance(reply.data, dict):
            return "unknown"
        verdict: Ruling = reply.data["verdict"]
        return verdict


@dataclass(kw_only=True)
class _Docket:
    """The facts and edges of the rules while verdicts change them; `extracted` is how each fact was before."""

    extracted: dict[str, FactEvent]
    facts: dict[str, FactEvent]
    edges: list[Edge]
    settled: dict[str, bool] = field(default_factory=dict)  # flagged fact -> whether every pair of it got a verdict

    def closed(self, edge: Edge, ruling: Ruling) -> None:
        """The rules closed the edge's target. Reopen it unless the model agrees."""
        if ruling in ("replaces", "same"):
            return
        self.edges.remove(edge)
        if ruling == "corrects":
            self._contradict(edge.source, edge.target)
            return
        if not any(other.kind == "SUPERSEDES" and other.target == edge.target for other in self.edges):
            was = self.extracted[edge.target]
            self._set(edge.target, status=was.status, valid_until=was.valid_until)
        if ruling == "refines":
            self._link("UPDATES", edge.source, edge.target, "refined")
        if ruling == "unknown":
            for id_ in (edge.source, edge.target):
                self._set(id_, flags=tuple(dict.fromkeys((*self.facts[id_].flags, CONFLICT))))

    def flagged(self, earlier: FactEvent, later: FactEvent, ruling: Ruling) -> None:
        """The rules kept both and flagged them. Close the earlier one if the model says so."""
        for fact in (earlier, later):
            self.settled[fact.id] = self.settled.get(fact.id, True) and ruling != "unknown"
        if ruling == "replaces" and self.facts[earlier.id].status == "active":
            begun, end = effective(earlier), effective(later)
            self._set(earlier.id, status="superseded", valid_until=end if begun < end else earlier.valid_until)
            self._link("SUPERSEDES", later.id, earlier.id, "adjudicated")
        elif ruling == "corrects":
            self._contradict(later.id, earlier.id)
        elif ruling == "refines":
            self._link("UPDATES", later.id, earlier.id, "refined")

    def clear(self) -> None:
        """Take the flag from facts about which there is no doubt left."""
        for id_ in (id_ for id_, settled in self.settled.items() if settled):
            self._set(id_, flags=tuple(flag for flag in self.facts[id_].flags if flag != CONFLICT))

    def _contradict(self, right: str, wrong: str) -> None:
        self._set(wrong, status="invalid", valid_until=self.extracted[wrong].valid_until)
        self._link("CONTRADICTS", right, wrong, "adjudicated")

    def _link(
        self, kind: Literal["SUPERSEDES", "CONTRADICTS", "UPDATES"], source: str, target: str, label: str
    ) -> None:
        self.edges.append(Edge(source=source, target=target, kind=kind, label=label))

    def _set(self, id_: str, **changes: object) -> None:
        self.facts[id_] = replace(self.facts[id_], **changes)  # type: ignore[arg-type]


def _shown(label: str, fact: FactEvent) -> str:
    """A fact as the model reads it: when and by whom it was said, its words, and the times that were worked out."""
    times = [f"{one_line(value.words)} = {reading(value.interval)}" for value in fact.times if value.interval]
    notes = "".join(f" ({note})" for note in times)
    quote = " … ".join(piece.text for piece in fact.pieces)
    about = one_line(fact.subject.partition(":")[2])
    head = f"[{label}] {stamp(fact.mentioned_at)} {one_line(fact.speaker)}, about {about}:"
    return record(head, f'{one_line(fact.predicate)}, {fact.modality.replace("_", " ")}: "{quote}"{notes}')

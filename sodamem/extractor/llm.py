"""A model extracts: windows of a session in, candidate facts out under a schema, and only what the words bear is kept.

The step "extract candidates" of arXiv 2608.08055, section 4.2, with its coarse and entity-subject variants as prompts.
Dates are never asked of the model: it quotes the words, and the timeline reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sodamem import prompts
from sodamem.errors import ConfigError, PromptError, ReplyError
from sodamem.extractor.entities import entity_id
from sodamem.extractor.lexicon import Lexicon, load
from sodamem.extractor.llm_facts import Keeper
from sodamem.extractor.llm_schema import candidates, salvaged, schema
from sodamem.extractor.llm_windows import Part, Window, halves, windows
from sodamem.extractor.rule import speaker_of
from sodamem.extractor.subject import Person
from sodamem.fence import Fence, one_line, record
from sodamem.protocols import Chat, Extractor, Timeline
from sodamem.provenance import piece
from sodamem.text import normalise
from sodamem.types import ChatReply, ChatRequest, Extraction, History, Message, MessagePiece, Session


@dataclass(frozen=True, kw_only=True)
class LlmExtractor(Extractor):
    """window_tokens: of what one call may cite · context_tokens: of what came before it, shown beside it (estimated) ·
    max_tokens: of a reply · max_facts_per_turn: what is found beyond is dropped and counted as `runaway` ·
    salt: see fence.Fence. Sessions and turns are given without their times.
    """

    chat: Chat
    prompt: str
    window_tokens: int
    context_tokens: int
    max_tokens: int
    max_facts_per_turn: int
    salt: str

    def __post_init__(self) -> None:
        least = {"context_tokens": 0, "window_tokens": 50}
        for name in ("window_tokens", "context_tokens", "max_tokens", "max_facts_per_turn"):
            if getattr(self, name) < least.get(name, 1):
                raise ConfigError(f"extractor.{name} must be >= {least.get(name, 1)}, got {getattr(self, name)}")
        if self.prompt not in prompts.names():
            raise ConfigError(f"extractor.prompt must be one of {', '.join(prompts.names())}, got {self.prompt!r}")

    @cached_property
    def _lexicon(self) -> Lexicon:
        return load()

    @cached_property
    def _system(self) -> Message:
        return Message(
            role="system", content=prompts.load(self.prompt, predicates=", ".join(sorted(self._lexicon.predicates)))
        )

    def extract(self, session: Session, history: History, timeline: Timeline) -> Extraction:
        """Pieces are sentences, and the clauses that facts cite, as the rules give them.

        rejected: by provenance `empty`, `not_found`, `ambiguous`, `context`, `unknown_turn`; by content `invented`,
        `wrong_subject`, `recalled`, `duplicate`, `runaway`; and windows of which something is missing: `truncated`,
        `unusable`. Raises ModelError when the model cannot be had: the session then stays as if never asked for.
        """
        speakers = {turn.id: speaker_of(turn, history) for turn in session.turns}
        keeper = Keeper(
            speakers=speakers,
            participants=_participants([*speakers.values()], history),
            lexicon=self._lexicon,
            timeline=timeline,
            most=self.max_facts_per_turn,
        )
        for window in windows(session.turns, self.window_tokens, self.context_tokens):
            self._read(window, keeper, whole=True)
        pieces: dict[str, MessagePiece] = {}
        for turn in session.turns:
            spans = [piece(turn, one.start, one.end) for one in keeper.sentences(turn)]
            if spans:
                keeper.register.add(speakers[turn.id].id, speakers[turn.id].name)
            pieces.update((span.id, span) for span in spans)
        pieces.update((span.id, span) for fact in keeper.facts.values() for span in fact.pieces)
        return Extraction(
            pieces=tuple(pieces.values()),
            entities=keeper.register.entities(),
            facts=tuple(sorted(keeper.facts.values(), key=lambda fact: (fact.order, fact.id))),
            rejected={reason: count for reason, count in sorted(keeper.rejected.items()) if count},
        )

    def _read(self, window: Window, keeper: Keeper, *, whole: bool) -> None:
        """Ask for the facts of a window. What cannot be had whole is asked for once more, in two halves."""
        try:
            reply = self._ask(window, keeper)
        except (ReplyError, PromptError) as error:
            smaller = halves(window) if whole else ()
            if not smaller and isinstance(error, PromptError):
                raise
            keeper.rejected["unusable"] += not smaller
        else:
            if not reply.truncated:
                for candidate in candidates(reply.data):
                    keeper.add(candidate, window)
                return
            smaller = self._cut_off(reply, window, keeper, whole=whole)
        for half in smaller:
            self._read(half, keeper, whole=False)

    def _cut_off(self, reply: ChatReply, window: Window, keeper: Keeper, *, whole: bool) -> tuple[Window, ...]:
        """Keep the facts that are complete; gives the windows in which the rest is to be asked for again.

        The turn that was being written when the reply ended is asked for again as a whole.
        """
        found = salvaged(reply.text)
        reached = next((one.turn for one in reversed(found) if window.part(one.turn)), "")
        rest = window.since(reached) if reached else window
        smaller = halves(rest) if whole else ()
        if not smaller:
            keeper.rejected["truncated"] += 1
        for candidate in found:
            if not smaller or candidate.turn != reached:
                keeper.add(candidate, window)
        return smaller

    def _ask(self, window: Window, keeper: Keeper) -> ChatReply:
        own = [_shown(label, part, keeper) for label, part in window.labelled("t", window.own)]
        before = [_shown(label, part, keeper) for label, part in window.labelled("c", window.context)]
        fence = Fence.around(self.salt, *own, contents=[*before, *own])
        parts = [fence.said]
        parts += ["Earlier, not to be cited:", fence.block(before)] if before else []
        parts += ["To be read:", fence.block(own)]
        return self.chat.ask(
            ChatRequest(
                phase="extract",
                messages=(self._system, Message(role="user", content="\n".join(parts))),
                max_tokens=self.max_tokens,
                schema=schema(self.max_facts_per_turn * len(window.own)),
            )
        )


def _shown(label: str, part: Part, keeper: Keeper) -> str:
    """A record of the prompt. A picture's caption helps to understand; nobody said it, so it cannot be cited."""
    picture = f"\n(shows a picture: {one_line(part.turn.caption)})" if part.turn.caption else ""
    return record(f"[{label}] {one_line(keeper.speakers[part.turn.id].name)}:", f"{part.text}{picture}")


def _participants(people: Sequence[Person], history: History) -> dict[str, Person]:
    """Everybody who takes part, by full and first name in lower case; a first name that two share names nobody."""
    known = {normalise(person.name): person for person in people}
    for name in history.speakers:
        if name and name not in ("user", "assistant"):
            known.setdefault(normalise(name), Person(entity_id("person", name), name))
    firsts = [name.split()[0] for name in known if name]
    return known | {name.split()[0]: person for name, person in known.items() if firsts.count(name.split()[0]) == 1}

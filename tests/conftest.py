"""Shared fixtures: histories and facts written by hand, snapshots of them, a small synthetic corpus, runs aside."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from importlib import resources

import jsonschema
import numpy as np
import pytest
import yaml

from sodamem import config, text
from sodamem.protocols import Chat
from sodamem.store.snapshot import Snapshot
from sodamem.store.sqlite import Store
from sodamem.types import (
    ChatReply,
    Evidence,
    Extraction,
    FactEvent,
    History,
    Hits,
    MessagePiece,
    Query,
    Session,
    Turn,
    Usage,
    Window,
)

TINY = ("tracker=none", "dataset.histories=2", "dataset.sessions=6", "dataset.turns_per_session=12")
TINY += ("dataset.questions_per_history=2", "dataset.distractors=0")


@pytest.fixture(autouse=True, scope="session")
def no_run_in_the_checkout(tmp_path_factory):
    """Whatever a test forgets to redirect is written aside, and errors print as they do for users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SODAMEM_RUNS", str(tmp_path_factory.mktemp("runs")))
        patch.delenv("SODAMEM_DEBUG", raising=False)
        yield


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """The folder that runs of this test go to."""
    monkeypatch.setenv("SODAMEM_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture
def compose(runs):
    """`config.compose` without tracking, on one small synthetic history of two questions."""
    return lambda *overrides: config.compose(*TINY, *overrides)


@pytest.fixture(scope="session")
def tiny():
    """Overrides of a run that takes a second."""
    return TINY


# --- what is said -------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def talk():
    """talk({"a 2024-01-01": ["Ann: I moved.", "Bob: Where?"]}) -> a history; turns are a:0, a:1, …"""

    def make(sessions: Mapping[str, Sequence[str]], *, id: str = "h", user: str = "user") -> History:
        made = []
        for head, lines in sessions.items():
            name, _, stamp = head.partition(" ")
            at = datetime.fromisoformat(stamp)
            turns = []
            for index, line in enumerate(lines):
                speaker, _, words = line.partition(": ")
                role = speaker if speaker in ("user", "assistant") else "speaker"
                turns.append(
                    Turn(
                        id=f"{name}:{index}",
                        session_id=name,
                        index=index,
                        role=role,
                        speaker=speaker,
                        text=words,
                        at=at,
                    )
                )
            made.append(Session(id=name, at=at, turns=tuple(turns)))
        speakers = tuple(dict.fromkeys(turn.speaker for session in made for turn in session.turns))
        return History(id=id, sessions=tuple(made), digest=text.digest(id, sessions), user=user, speakers=speakers)

    return make


@pytest.fixture(scope="session")
def piece():
    """piece(turn, "words") -> the span of the turn that holds these words."""

    def make(turn: Turn, words: str) -> MessagePiece:
        start = turn.text.index(words)
        return MessagePiece(turn_id=turn.id, start=start, end=start + len(words), text=words)

    return make


@pytest.fixture(scope="session")
def fact(piece):
    """fact("f1", turn, "words", …) -> a fact that cites these words of the turn, by default all of them."""

    def make(id: str, turn: Turn, words: str = "", **fields: object) -> FactEvent:
        source = piece(turn, words or turn.text)
        given = {
            "kind": "fact",
            "predicate": "says",
            "modality": "current_state",
            "subject": f"person:{turn.speaker.lower()}",
            "text": source.text,
            "mentioned_at": turn.at,
            "order": (turn.at.isoformat(), turn.index, source.start),
            "speaker": turn.speaker,
        }
        return FactEvent(id=id, pieces=(source,), **{**given, **fields})

    return make


# --- a memory of it -----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def remember(tmp_path_factory):
    """remember(history, facts=…, pieces=…, entities=…, edges=…, vectors=…) -> a snapshot over a real store.

    vectors: id -> [d], made unit; items without one have the zero vector. Without `vectors`, [1, 0] for all.
    """
    number = itertools.count()

    def make(history, *, facts=(), pieces=(), entities=(), edges=(), vectors=None, times=None) -> Snapshot:
        path = tmp_path_factory.getbasetemp() / "stores" / f"{next(number)}.sqlite"
        store = Store(path, history.id, {}, frozen=False)
        for session in history.sessions:
            ids = {turn.id for turn in session.turns}
            store.add(
                session,
                Extraction(
                    pieces=tuple(p for p in pieces if p.turn_id in ids),
                    facts=tuple(f for f in facts if f.pieces[0].turn_id in ids),
                    entities=tuple(entities),
                ),
            )
        store.finish(facts, edges)
        snapshot = Snapshot(store, speaker_in_text=False, caption_in_text=False)
        store.close()
        rows = [(vectors or {}).get(id, (1.0, 0.0) if vectors is None else (0.0, 0.0)) for id in snapshot.ids]
        matrix = np.array(rows, dtype=np.float64) if rows else np.zeros((0, 2))
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        unit = (matrix / np.where(norms > 0, norms, 1)).astype(np.float32)

        def encode(texts):  # called with the texts of one kind of item at a time
            starts = (first for first in snapshot.first.values() if snapshot.texts[first : first + len(texts)] == texts)
            return unit[(first := next(starts)) : first + len(texts)]

        snapshot.use(encode, times or (lambda words, at: ()))
        return snapshot

    return make


@pytest.fixture(scope="session")
def asking():
    """asking("where is Ann?", window=…, …) -> a query with the words of the text and the vector [1, 0]."""

    def make(words: str = "", **fields: object) -> Query:
        vector = np.array(fields.pop("vector", (1.0, 0.0)), dtype=np.float32)
        given = {"asked_at": datetime(2024, 12, 31), "entities": (), "speakers": (), "window": Window()}
        return Query(text=words, terms=tuple(text.terms(words)), vector=vector, **{**given, **fields})

    return make


@pytest.fixture(scope="session")
def hits():
    """hits((row, head, direct, score), …) -> a table of hits."""

    def make(*rows: tuple[int, int, bool, float]) -> Hits:
        item, head, direct, score = zip(*rows, strict=True) if rows else ((), (), (), ())
        return Hits(
            item=np.array(item, dtype=np.int32),
            head=np.array(head, dtype=np.int32),
            direct=np.array(direct, dtype=np.bool_),
            score=np.array(score, dtype=np.float64),
        )

    return make


# --- models -------------------------------------------------------------------------------------------------


class Saying(Chat):
    """Replies what it was given, in turn, and keeps what it was asked."""

    def __init__(self, replies):
        self.replies, self.asked = list(replies), []

    @property
    def digest(self):
        return "saying"

    def ask(self, request):
        self.asked.append(request)
        assert self.replies, f"asked once more than expected: {request.messages[-1].content}"
        said = self.replies.pop(0)
        said = said(request) if callable(said) else said
        if isinstance(said, Exception):
            raise said
        if isinstance(said, ChatReply):
            return said
        if request.schema is not None:
            jsonschema.validate(said, dict(request.schema))
        usage = Usage(phase=request.phase, model="saying", prompt=10, completion=5)
        return ChatReply(text=json.dumps(said), data=said, model="saying", truncated=False, usage=(usage,))

    @property
    def prompts(self):
        """All that it was told, one text for each time it was asked."""
        return ["\n".join(message.content for message in request.messages) for request in self.asked]


@pytest.fixture(scope="session")
def saying():
    """saying({"text": "x", …}, lambda request: …, ReplyError(…)) -> a chat that says these, one after the other."""
    return lambda *replies: Saying(replies)


@pytest.fixture(scope="session")
def cut_off():
    """cut_off("{…") -> the reply of a model that ran out of tokens there."""
    usage = Usage(phase="extract", model="saying", prompt=10, completion=99)
    return lambda text: ChatReply(text=text, data=None, model="saying", truncated=True, usage=(usage,))


@pytest.fixture(scope="session")
def option():
    """option("reader/llm") -> the keys of a YAML option, without its target."""

    def read(name):
        node = yaml.safe_load((resources.files(config.MODULE) / f"{name}.yaml").read_text(encoding="utf-8"))
        return {key: value for key, value in node.items() if key not in ("_target_", "defaults")}

    return read


@pytest.fixture(scope="session")
def recalled():
    """recalled("Ann: I live in Oslo.", at=…) -> turns as evidence, ids t:0, t:1, …, a day apart; a list of them."""

    def make(*lines, at=datetime(2024, 1, 1, 10), **fields):
        found = []
        for place, line in enumerate(lines):
            speaker, _, words = line.partition(": ")
            given = {
                "id": f"t:{place}",
                "kind": "turn",
                "rank": place + 1,
                "turn_ids": (f"t:{place}",),
                "session_id": f"s{place}",
                "speaker": speaker,
                "text": line,
                "at": at + timedelta(days=place),
                "confidence": 1.0,
                "awards": (),
                "quotable": (words,),
            }
            found.append(Evidence(**{**given, **fields}))
        return found

    return make

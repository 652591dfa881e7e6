"""LoCoMo: ten very long conversations between two friends, with 1,986 questions and their evidence turns.

Maharana et al. 2024 (snap-research/locomo, CC BY-NC 4.0); the user supplies `locomo10.json`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sodamem.dataset.common import (
    SPLITS,
    Node,
    choice,
    clip,
    history_digest,
    locomo_stamp,
    parse_json,
    read_bytes,
    sha256,
)
from sodamem.errors import ConfigError, DataError
from sodamem.protocols import Corpus, Dataset
from sodamem.types import History, Question, Session, Turn

# Category numbers as in the file. Names differ between code bases, so reports print number and name.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
NOT_ANSWERABLE = "not answerable"

RELEASE_SHA256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
RELEASE_COUNTS = {1: 282, 2: 321, 3: 96, 4: 841, 5: 446}
CONVERSATIONS = {
    "dev": ("conv-26", "conv-30", "conv-41", "conv-42", "conv-43"),
    "test": ("conv-44", "conv-47", "conv-48", "conv-49", "conv-50"),
}
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")  # "D8:6; D9:17", "D9:1 D4:4", "D:11:26" and "D30:05" all occur
_REMEDY = "Get locomo10.json from github.com/snap-research/locomo and set dataset.path or SODAMEM_DATA"


@dataclass(frozen=True, kw_only=True)
class LocomoCorpus(Corpus):
    """Ten conversations, already built: the whole file is 6,000 short turns."""

    name: str
    sha256: str
    history_ids: tuple[str, ...]
    notes: Mapping[str, Sequence[str]]
    histories: Mapping[str, History]
    asked: Mapping[str, Sequence[Question]]

    def history(self, history_id: str) -> History:
        return self.histories[history_id]

    def questions(self, history_id: str) -> Sequence[Question]:
        return self.asked[history_id]


@dataclass(frozen=True, kw_only=True)
class LocomoDataset(Dataset):
    """One history per conversation; questions are asked when the last session has been held.

    captions: `index` keeps an image's caption in `Turn.caption`, `drop` leaves it out; the image search
    `query` that LoCoMo stores beside it is no part of the dialogue and is never read.
    errata: `keep` marks disputed questions, `drop` leaves them out; `errata_path` names the audit's errors.json.
    """

    path: str
    split: str
    categories: Sequence[int]
    captions: str
    errata: str
    errata_path: str | None

    def __post_init__(self) -> None:
        choice("split", self.split, SPLITS)
        choice("captions", self.captions, ("index", "drop"))
        choice("errata", self.errata, ("keep", "drop"))
        if not self.categories or not set(self.categories) <= set(CATEGORIES):
            raise ConfigError(
                f"categories must be some of {', '.join(map(str, CATEGORIES))}, got {list(self.categories)}. "
                "Name at least one by its number"
            )
        if self.errata == "drop" and not self.errata_path:
            raise ConfigError(
                "errata_path must name the audit's errors.json when errata is drop, got none. "
                "Get it from github.com/dial481/locomo-audit, or set errata=keep"
            )

    def open(self) -> LocomoCorpus:
        path = Path(self.path)
        data = read_bytes(path, "path", _REMEDY)
        digest = sha256(data)
        samples = list(parse_json(data, path).items())
        if digest == RELEASE_SHA256:
            _assert_counts(samples)
        disputed = _read_errata(self.errata_path) if self.errata_path else {}
        notes: dict[str, list[str]] = defaultdict(list)
        histories: dict[str, History] = {}
        asked: dict[str, Sequence[Question]] = {}
        for position, sample in enumerate(samples):
            name = sample.get("sample_id").scalar()
            if self.split != "all" and name not in CONVERSATIONS[self.split]:
                continue
            if name in histories:
                raise sample.get("sample_id").error("be unique")
            histories[name] = history = _history(name, sample.get("conversation"), self.captions == "index")
            questions = _questions(history, sample.get("qa"), disputed.get(position, {}), notes)
            asked[name] = tuple(q for q in questions if self._wanted(q, notes))
        if not histories:
            raise DataError(f"{path} must hold a conversation of split {self.split}, it has none. Set split=all")
        return LocomoCorpus(
            name="locomo",
            sha256=digest,
            history_ids=tuple(histories),
            notes=dict(notes),
            histories=histories,
            asked=asked,
        )

    def _wanted(self, question: Question, notes: dict[str, list[str]]) -> bool:
        if int(question.category.removeprefix("category_")) not in self.categories:
            return False
        if question.erratum and self.errata == "drop":
            notes["dropped_erratum"].append(question.id)
            return False
        return True


def _history(name: str, talk: Node, captions: bool) -> History:
    speakers = (talk.get("speaker_a").text(), talk.get("speaker_b").text())
    sessions = []
    # A conversation may list more dates than it has sessions; only the sessions count.
    numbers = sorted(int(m[1]) for key in talk.value if (m := _SESSION.fullmatch(key)))
    for number in numbers:
        at = locomo_stamp(talk.get(f"session_{number}_date_time"))
        turns = []
        for index, node in enumerate(talk.get(f"session_{number}").items()):
            text = node.get("text").text()
            caption = node.find("blip_caption") if captions else None
            if not text.strip() and caption is None:
                continue
            turns.append(
                Turn(
                    id=node.get("dia_id").text(empty=False),
                    session_id=f"S{number}",
                    index=index,
                    role="speaker",
                    speaker=node.get("speaker").text(),
                    text=text,
                    at=at,
                    caption=caption.text() if caption else "",
                )
            )
        sessions.append(Session(id=f"S{number}", at=at, turns=tuple(turns)))
    if not sessions:
        raise talk.error("hold at least one session_N")
    sessions.sort(key=lambda session: session.at)
    twice = [i for i, n in Counter(turn.id for s in sessions for turn in s.turns).items() if n > 1]
    if twice:
        raise DataError(f"{talk.file}: {talk.path} must give each turn its own dia_id, {twice[0]} occurs twice")
    digest = history_digest(sessions, "user", speakers)
    return History(id=name, sessions=tuple(sessions), digest=digest, speakers=speakers)


def _questions(
    history: History, items: Node, disputed: Mapping[int, tuple[str, str]], notes: dict[str, list[str]]
) -> list[Question]:
    session_of = {turn.id: session.id for session in history.sessions for turn in session.turns}
    asked_at = history.sessions[-1].at
    seen: Counter[str] = Counter()
    found = []
    for index, node in enumerate(items.items()):
        text = node.get("question").text(empty=False)
        # Content, not position, names a question; a repeated one gets its ordinal and is flagged.
        stem = f"{history.id}/{hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:10]}"
        seen[stem] += 1
        name = stem if seen[stem] == 1 else f"{stem}-{seen[stem]}"
        if name != stem:
            notes["duplicate_question"].append(name)
        number = node.get("category").value
        if not isinstance(number, int) or number not in CATEGORIES:
            raise node.get("category").error(f"be one of {', '.join(map(str, CATEGORIES))}")
        adversarial = number == ADVERSARIAL
        audited, erratum = disputed.get(index, (text, ""))
        if audited != text:
            raise DataError(f"errata_path must be of this file, its entry for {node.path} asks {clip(audited)!r}")
        turns, dead = _evidence(node.get("evidence"), session_of)
        notes["dead_evidence"].extend(f"{name} {token}" for token in dead)
        if not turns and not dead:
            notes["no_evidence"].append(name)
        found.append(
            Question(
                id=name,
                history_id=history.id,
                text=text,
                asked_at=asked_at,
                category=f"category_{number}",
                category_name=CATEGORIES[number],
                gold=NOT_ANSWERABLE if adversarial else node.get("answer").scalar(),
                gold_turns=turns,
                gold_sessions=tuple(dict.fromkeys(session_of[turn] for turn in turns)),
                answerable=not adversarial,
                trap=node.get("adversarial_answer").scalar() if adversarial else "",
                erratum=erratum,
                exclude="" if turns else "dead_evidence" if dead else "no_evidence",
            )
        )
    return found


def _evidence(node: Node, known: Mapping[str, str]) -> tuple[tuple[str, ...], list[str]]:
    """The turns that an evidence list names, repaired where it is misspelt, and the tokens that name none."""
    alive: dict[str, None] = {}
    dead = []
    for item in node.items():
        text = item.text()
        for match in _EVIDENCE.finditer(text):
            turn = f"D{match[1]}:{match[2]}"
            if turn in known:
                alive[turn] = None
            else:
                dead.append(match[0])
        dead.extend(re.findall(r"[^\s,;]+", _EVIDENCE.sub(" ", text)))
    return tuple(alive), dead


def _read_errata(path: str) -> Mapping[int, Mapping[int, tuple[str, str]]]:
    """Position of sample and of question in the released file -> (the question, the audit's reason as a slug)."""
    file = Path(path)
    data = read_bytes(file, "errata_path", "Get errors.json from github.com/dial481/locomo-audit or set it to null")
    found: dict[int, dict[int, tuple[str, str]]] = defaultdict(dict)
    for node in parse_json(data, file).items():
        place = node.get("question_id")
        if not (match := re.fullmatch(r"locomo_(\d+)_qa(\d+)", place.text())):
            raise place.error('look like "locomo_0_qa1"')
        reason = node.get("error_type").text(empty=False).lower()
        found[int(match[1])][int(match[2])] = (node.get("question").text(), reason)
    return found


def _assert_counts(samples: Sequence[Node]) -> None:
    counts = Counter(q.get("category").value for sample in samples for q in sample.get("qa").items())
    if counts != RELEASE_COUNTS:
        raise AssertionError(f"the released file must hold {RELEASE_COUNTS} questions by category, read {dict(counts)}")

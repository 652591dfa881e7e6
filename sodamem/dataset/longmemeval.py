"""LongMemEval: 500 questions, each put to its own history of dated user-assistant sessions.

Wu et al. 2025 (xiaowu0162/longmemeval-cleaned on the Hugging Face hub, MIT): the S, M and oracle files.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import yaml

from sodamem.dataset.common import (
    SPLITS,
    Node,
    choice,
    history_digest,
    longmemeval_stamp,
    parse_json,
    read_bytes,
    sha256,
    sound,
)
from sodamem.errors import DataError, ServiceError
from sodamem.protocols import Corpus, Dataset
from sodamem.types import History, Question, Session, Turn

ABSTENTION = "_abs"  # the mark is in the question's id; its type stays that of the question it was made from
ROLES = ("user", "assistant")


@dataclass(frozen=True, kw_only=True)
class LongMemEvalCorpus(Corpus):
    """Parsed instances; a history of some 500 turns is built when it is asked for and then forgotten."""

    name: str
    sha256: str
    history_ids: tuple[str, ...]
    notes: Mapping[str, Sequence[str]]
    instances: Mapping[str, Node]
    asked: Mapping[str, Question]
    hide_later: bool

    def history(self, history_id: str) -> History:
        sessions = _read(self.instances[history_id], self.hide_later).sessions
        digest = history_digest(sessions, "user", ROLES)
        return History(id=history_id, sessions=sessions, digest=digest, user="user", speakers=ROLES)

    def questions(self, history_id: str) -> Sequence[Question]:
        return (self.asked[history_id],)


@dataclass(frozen=True, kw_only=True)
class LongMemEvalDataset(Dataset):
    """One history per question, named by the question's id.

    path: a local file; null downloads `hub_file` of `hub_name` at `hub_revision`. Sessions and turns are named by
    position ("s007", "s007:03"): 13 histories repeat a session id, and the ids of gold sessions give them away.
    later_sessions: `keep` or `hide` what was said after the question's date (77 questions have such sessions).
    errata: `keep` marks disputed questions, `drop` leaves them out.
    """

    path: str | None
    hub_name: str
    hub_file: str
    hub_revision: str
    split: str
    later_sessions: str
    errata: str

    def __post_init__(self) -> None:
        choice("split", self.split, SPLITS)
        choice("later_sessions", self.later_sessions, ("keep", "hide"))
        choice("errata", self.errata, ("keep", "drop"))

    def open(self) -> LongMemEvalCorpus:
        file = Path(self.path) if self.path else self._download()
        data = read_bytes(file, "path", f"Get {self.hub_file} from huggingface.co/datasets/{self.hub_name}")
        digest = sha256(data)
        root = parse_json(data, file)
        del data  # hundreds of megabytes that the parsed instances do not need
        disputed = read_errata("longmemeval")
        notes: dict[str, list[str]] = defaultdict(list)
        instances: dict[str, Node] = {}
        asked: dict[str, Question] = {}
        hide = self.later_sessions == "hide"
        for instance in root.items():
            name = instance.get("question_id").scalar()
            if self.split not in ("all", split_of(name)):
                continue
            if name in disputed and self.errata == "drop":
                notes["dropped_erratum"].append(name)
                continue
            if name in instances:
                raise instance.get("question_id").error("be unique")
            asked[name] = _question(name, instance, hide, disputed.get(name, ""), notes)
            instances[name] = instance
        if not instances:
            raise DataError(f"{file} must hold a question of split {self.split}, it has none. Set split=all")
        return LongMemEvalCorpus(
            name="longmemeval",
            sha256=digest,
            history_ids=tuple(instances),
            notes=dict(notes),
            instances=instances,
            asked=asked,
            hide_later=hide,
        )

    def _download(self) -> Path:
        import datasets  # takes a second to import, and a local file does not need it

        try:
            builder = datasets.load_dataset_builder(self.hub_name, data_files=self.hub_file, revision=self.hub_revision)
            (url,) = builder.config.data_files["train"]
            # The file itself, not its Arrow table: golds of mixed type would be cast to one.
            return Path(datasets.DownloadManager().download(url))
        except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
            reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
            raise ServiceError(
                f"cannot get {self.hub_file} of {self.hub_name} ({reason}). Download it from "
                f"huggingface.co/datasets/{self.hub_name} and set dataset.path to the file"
            ) from error


def split_of(question_id: str) -> str:
    """The split by hash, dev or test: a question and the abstention variant made from it fall on the same side."""
    first = hashlib.sha256(question_id.removesuffix(ABSTENTION).encode()).digest()[0]
    return "dev" if first < 128 else "test"


def read_errata(name: str) -> Mapping[str, str]:
    """By question id, why its gold is disputed, as listed in `errata/<name>.yaml`."""
    file = resources.files("sodamem.dataset") / "errata" / f"{name}.yaml"
    questions = yaml.safe_load(file.read_text(encoding="utf-8"))["questions"]
    return {str(question): str(reason) for question, reason in questions.items()}


@dataclass(frozen=True, slots=True)
class _Haystack:
    file_ids: tuple[str, ...]  # the file's own session ids, by position
    sessions: tuple[Session, ...]  # in order of time
    gold: tuple[tuple[str, str], ...]  # (turn id, role) of the turns marked has_answer
    repaired: bool  # some text held characters that are none
    later: bool  # some session is dated after the question


def _read(instance: Node, hide_later: bool) -> _Haystack:
    """One instance's sessions. Every turn is checked, so that a damaged file is refused when it is opened."""
    asked_at = longmemeval_stamp(instance.get("question_date"))
    held = list(instance.get("haystack_sessions").items())
    dates = [longmemeval_stamp(node) for node in instance.get("haystack_dates").items()]
    file_ids = tuple(node.scalar() for node in instance.get("haystack_session_ids").items())
    if not len(held) == len(dates) == len(file_ids):
        raise DataError(
            f"{instance.file}: {instance.path} must have as many haystack_dates and haystack_session_ids as "
            f"haystack_sessions, got {len(dates)}, {len(file_ids)} and {len(held)}"
        )
    sessions, gold, repaired = [], [], False
    for position, (nodes, at) in enumerate(zip(held, dates, strict=True)):
        if hide_later and at > asked_at:
            continue
        session_id = f"s{position:03d}"
        turns = []
        for index, node in enumerate(nodes.items()):
            role, content = node.get("role").text(), node.get("content").value
            if role not in ROLES:
                raise node.get("role").error(f"be one of {', '.join(ROLES)}")
            if not isinstance(content, str):
                raise node.get("content").error("be a string")
            if not content.strip():
                continue  # blank turns are skipped without renumbering
            name, text = f"{session_id}:{index:02d}", sound(content)
            repaired |= text != content
            if (mark := node.find("has_answer")) is not None and mark.value is True:
                gold.append((name, role))
            turns.append(Turn(id=name, session_id=session_id, index=index, role=role, speaker=role, text=text, at=at))
        sessions.append(Session(id=session_id, at=at, turns=tuple(turns)))
    sessions.sort(key=lambda session: session.at)
    return _Haystack(file_ids, tuple(sessions), tuple(gold), repaired, any(at > asked_at for at in dates))


def _question(name: str, instance: Node, hide_later: bool, erratum: str, notes: dict[str, list[str]]) -> Question:
    haystack = _read(instance, hide_later)
    shown = {session.id for session in haystack.sessions}
    wanted = {node.scalar() for node in instance.get("answer_session_ids").items()}
    positions = (f"s{i:03d}" for i, file_id in enumerate(haystack.file_ids) if file_id in wanted)
    gold_sessions = tuple(session for session in positions if session in shown)
    answerable = not name.endswith(ABSTENTION)
    kind = instance.get("question_type").text(empty=False)
    remarks = {
        "abstention": not answerable,
        "no_user_target": not any(role == "user" for _, role in haystack.gold),  # left out of the benchmark's n = 419
        "repeated_session_id": len(set(haystack.file_ids)) < len(haystack.file_ids),
        "missing_gold_session": not wanted <= set(haystack.file_ids),
        "later_sessions_hidden" if hide_later else "later_sessions_kept": haystack.later,
        "repaired_characters": haystack.repaired,
    }
    for remark, holds in remarks.items():
        if holds:
            notes[remark].append(name)
    return Question(
        id=name,
        history_id=name,
        text=instance.get("question").text(empty=False),
        asked_at=longmemeval_stamp(instance.get("question_date")),
        category=kind,
        category_name=kind.replace("-", " "),
        gold=instance.get("answer").scalar(),
        gold_turns=tuple(turn for turn, _ in haystack.gold),
        gold_sessions=gold_sessions,
        answerable=answerable,
        erratum=erratum,
        exclude="abstention" if not answerable else "" if haystack.gold or gold_sessions else "no_evidence",
    )

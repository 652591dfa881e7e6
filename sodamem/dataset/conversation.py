"""A user's own conversation: one JSON file of dated sessions becomes a history that can be asked.

The format is ours; `schema/conversation.schema.json` describes it to editors and exporters.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from sodamem.dataset.common import Node, history_digest, parse_json, read_bytes
from sodamem.errors import DataError
from sodamem.types import History, Session, Turn

_KEYS = {
    "conversation": ("id", "user", "zone", "sessions"),
    "session": ("id", "time", "turns"),
    "turn": ("role", "speaker", "text", "time", "caption"),
}


def load_conversation(path: str | Path) -> History:
    """The history in a conversation file, sessions in order of time.

    Turns are named `<session id>:<position>`, so appending to the file renames nothing. A turn gives `role` (user,
    assistant, ...), `speaker` (a person's name), or both. Turns and sessions without words are left out. A time is ISO
    8601; one with an offset is converted to the conversation's `zone`, or to UTC where the file names none.

    Raises DataError in one line, with the place in the file, for anything that cannot be read as meant.
    """
    file = Path(path)
    root = parse_json(read_bytes(file, "history", "Name a JSON file with a list of sessions"), file)
    _known(root, "conversation")
    stamp = _stamps(root)
    user = node.text(empty=False) if (node := root.find("user")) else "user"
    names: set[str] = set()
    sessions = []
    for node in root.get("sessions").items():
        session = _session(node, stamp)
        if session.id in names:
            raise node.get("id").error("be unique among the sessions")
        names.add(session.id)
        if session.turns:
            sessions.append(session)
    if not sessions:
        raise root.get("sessions").error("hold at least one turn with words")
    sessions.sort(key=lambda session: session.at)
    speakers = tuple(dict.fromkeys(turn.speaker for session in sessions for turn in session.turns))
    return History(
        id=node.scalar() if (node := root.find("id")) else file.stem,
        sessions=tuple(sessions),
        digest=history_digest(sessions, user, speakers),
        user=user,
        speakers=speakers,
    )


def _session(node: Node, stamp: Callable[[Node], datetime]) -> Session:
    _known(node, "session")
    name, at = node.get("id").scalar(), stamp(node.get("time"))
    if not name.strip():
        raise node.get("id").error("not be empty")
    turns = []
    for index, item in enumerate(node.get("turns").items()):
        _known(item, "turn")
        role, speaker = item.find("role"), item.find("speaker")
        if not role and not speaker:
            raise DataError(f"{item.file}: {item.path} must say who speaks, with the key 'role' or 'speaker'")
        text = item.get("text").text()
        caption = found.text() if (found := item.find("caption")) else ""
        said_at = stamp(found) if (found := item.find("time")) else at
        if not text.strip() and not caption.strip():
            continue
        named_role = role.text(empty=False) if role else "speaker"
        turns.append(
            Turn(
                id=f"{name}:{index}",
                session_id=name,
                index=index,
                role=named_role,
                speaker=speaker.text(empty=False) if speaker else named_role,
                text=text,
                at=said_at,
                caption=caption,
            )
        )
    return Session(id=name, at=at, turns=tuple(turns))


def _stamps(root: Node) -> Callable[[Node], datetime]:
    """How this file's times become floating ones."""
    zone = _zone(root)
    first: dict[bool, str] = {}  # has an offset, or none -> the first place of that kind

    def stamp(node: Node) -> datetime:
        try:
            moment = datetime.fromisoformat(node.text().strip())
            floating = moment if moment.tzinfo is None else moment.astimezone(zone or UTC).replace(tzinfo=None)
        except (ValueError, OverflowError) as error:
            raise node.error('be an ISO 8601 time like "2024-05-31T18:20"') from error
        aware = moment.tzinfo is not None
        first.setdefault(aware, node.path)
        # Without a zone, a bare time and one with an offset cannot be put in order.
        if zone is None and (other := first.get(not aware)):
            raise node.error(f"have an offset from UTC if and only if {other} has one, unless 'zone' is set")
        return floating

    return stamp


def _zone(root: Node) -> ZoneInfo | None:
    if (node := root.find("zone")) is None:
        return None
    try:
        return ZoneInfo(node.text(empty=False))
    except (KeyError, ValueError, OSError) as error:  # unknown, malformed, or the name of a folder of zones
        raise node.error('be a time zone like "Europe/Paris"') from error


def _known(node: Node, what: str) -> None:
    """Refuses keys that would be ignored: a misspelt "time" must not become an undated turn."""
    if not isinstance(node.value, dict):
        raise node.error(f"be a {what}, an object with {', '.join(_KEYS[what])}")
    if unknown := [key for key in node.value if key not in _KEYS[what]]:
        raise DataError(
            f"{node.file}: {node.path or 'the document'} must hold only {', '.join(_KEYS[what])}, got {unknown[0]!r}"
        )

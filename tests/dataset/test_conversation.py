"""A user's own file: read as meant, or refused in one line that says where."""

import json
from datetime import datetime
from importlib import resources

import jsonschema
import pytest

from sodamem.dataset.conversation import load_conversation
from sodamem.errors import DataError


def talk(**more):
    sessions = [
        {"id": "b", "time": "2024-06-01T10:00", "turns": [{"role": "user", "text": "I moved to Oslo."}]},
        {
            "id": "a",
            "time": "2024-05-31",
            "turns": [
                {"role": "user", "text": "I live in Bergen.", "time": "2024-05-31T18:20"},
                {"role": "assistant", "text": " "},
                {"role": "user", "speaker": "Sam", "text": "🙂 Really.", "caption": "a harbour"},
            ],
        },
    ]
    return {"sessions": sessions, **more}


def load(tmp_path, content):
    path = tmp_path / "chat.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return load_conversation(path)


def schema():
    file = resources.files("sodamem.dataset") / "schema" / "conversation.schema.json"
    return json.loads(file.read_text(encoding="utf-8"))


def test_sessions_are_in_order_of_time_and_turns_keep_their_position(tmp_path):
    history = load(tmp_path, talk())
    assert (history.id, history.user, history.speakers) == ("chat", "user", ("user", "Sam"))
    assert [s.id for s in history.sessions] == ["a", "b"]
    assert [(t.id, t.index, t.role, t.speaker, t.at, t.caption) for t in history.sessions[0].turns] == [
        ("a:0", 0, "user", "user", datetime(2024, 5, 31, 18, 20), ""),
        ("a:2", 2, "user", "Sam", datetime(2024, 5, 31), "a harbour"),
    ]


def test_names_can_be_given(tmp_path):
    history = load(tmp_path, talk(id=7, user="Sam"))
    assert (history.id, history.user) == ("7", "Sam")


def test_speakers_need_no_role(tmp_path):
    content = talk()
    content["sessions"][0]["turns"] = [{"speaker": "Ann", "text": "Hi"}]
    turn = load(tmp_path, content).sessions[1].turns[0]
    assert (turn.role, turn.speaker) == ("speaker", "Ann")


@pytest.mark.parametrize(("zone", "hour"), [({}, 22), ({"zone": "Europe/Oslo"}, 0)])
def test_offsets_are_converted_to_the_conversations_zone_and_never_to_the_hosts(tmp_path, monkeypatch, zone, hour):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    content = talk(**zone)
    content["sessions"] = [{"id": "a", "time": "2024-05-31T18:00-04:00", "turns": [{"role": "user", "text": "x"}]}]
    (session,) = load(tmp_path, content).sessions
    assert (session.at.hour, session.at.tzinfo) == (hour, None)


def test_bare_times_beside_offsets_are_refused_unless_a_zone_makes_them_comparable(tmp_path):
    content = talk()
    content["sessions"][0]["time"] = "2024-06-01T10:00Z"
    with pytest.raises(DataError, match=r"sessions\[1\]\.time must have an offset .* sessions\[0\]\.time has one"):
        load(tmp_path, content)
    assert load(tmp_path, content | {"zone": "Europe/Oslo"}).sessions[1].at == datetime(2024, 6, 1, 12, 0)


def test_equal_content_has_an_equal_digest_in_any_layout_and_a_changed_word_another(tmp_path):
    first = load(tmp_path, talk())
    turned = talk()
    turned["sessions"].reverse()
    assert load(tmp_path, json.dumps(turned, indent=3, ensure_ascii=False).encode()).digest == first.digest
    turned["sessions"][0]["turns"][0]["text"] += "!"
    assert load(tmp_path, turned).digest != first.digest


def test_a_byte_order_mark_is_no_error(tmp_path):
    assert load(tmp_path, b"\xef\xbb\xbf" + json.dumps(talk()).encode()).id == "chat"


def test_a_session_without_words_is_left_out(tmp_path):
    content = talk()
    content["sessions"].append({"id": "c", "time": "2024-07-01", "turns": []})
    assert [s.id for s in load(tmp_path, content).sessions] == ["a", "b"]


def changed(**at):
    """A talk whose first session, or that session's first turn, has other values; None removes the key."""
    content = talk()
    for place, values in at.items():
        target = {"top": content, "session": content["sessions"][0], "turn": content["sessions"][0]["turns"][0]}[place]
        target.update(values)
        for key in [key for key, value in values.items() if value is None]:
            del target[key]
    return content


REFUSED = [
    ([], r"the document must be a conversation, an object with id, user, zone, sessions, got a list"),
    ({}, r"the document must have the key 'sessions'"),
    ({"sessions": []}, r"sessions must hold at least one turn with words"),
    ({"sessions": {}}, r"sessions must be a list, got an object"),
    ({"sessions": ["x"]}, r"sessions\[0\] must be a session, .*, got 'x'"),
    (changed(session={"time": None}), r"sessions\[0\] must have the key 'time'"),
    (changed(session={"time": "tomorrow"}), r"sessions\[0\]\.time must be an ISO 8601 time like .*, got 'tomorrow'"),
    (changed(session={"time": 1717000000}), r"sessions\[0\]\.time must be a string, got 1717000000"),
    (changed(session={"time": "0001-01-01T00:00+14:00"}), r"sessions\[0\]\.time must be an ISO 8601 time"),
    (changed(session={"tiem": "x"}), r"sessions\[0\] must hold only id, time, turns, got 'tiem'"),
    (changed(session={"id": "a"}), r"sessions\[1\]\.id must be unique among the sessions, got 'a'"),
    (changed(session={"id": ""}), r"sessions\[0\]\.id must not be empty"),
    (changed(session={"id": True}), r"sessions\[0\]\.id must be a string or a number, got True"),
    (changed(turn={"text": None}), r"turns\[0\] must have the key 'text'"),
    (changed(turn={"text": ["x"]}), r"turns\[0\]\.text must be a string, got a list"),
    (changed(turn={"text": "a\0"}), r"turns\[0\]\.text must be valid text, got U\+0000 at position 1"),
    (changed(turn={"text": "x \ud83d"}), r"turns\[0\]\.text must be valid text, got U\+D83D at position 2"),
    (changed(turn={"role": None}), r"turns\[0\] must say who speaks, with the key 'role' or 'speaker'"),
    (changed(turn={"role": " "}), r"turns\[0\]\.role must not be empty"),
    (changed(top={"zone": "Mars/Olympus"}), r"zone must be a time zone like .*, got 'Mars/Olympus'"),
    (changed(top={"zone": "../etc"}), r"zone must be a time zone"),
    (changed(top={"zone": "Europe"}), r"zone must be a time zone"),
    (b"\xff", r"must be valid JSON, but byte 0 is not UTF-8"),
    (b"", r"must be valid JSON, but expecting value at line 1, column 1"),
    (b"[" * 100_000, r"nested too deeply"),
    (b"9" * 5000, r"must be valid JSON, but it holds a number of thousands of digits"),
]


@pytest.mark.parametrize(("content", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_read_as_meant_is_refused_in_one_line_that_says_where(tmp_path, content, message):
    with pytest.raises(DataError, match=message) as caught:
        load(tmp_path, content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", ["missing.json", ".", "a\0b"])
def test_a_path_that_is_no_file_is_a_users_error(tmp_path, path):
    with pytest.raises(DataError, match="history must name a readable file"):
        load_conversation(tmp_path / path)


def test_the_schema_accepts_what_the_loader_accepts(tmp_path):
    for content in (talk(), talk(id=7, user="Sam", zone="Europe/Oslo")):
        jsonschema.validate(content, schema())
        load(tmp_path, content)


# A schema sees shapes. Unique ids, whole characters and the calendar are the loader's to check.
SHAPES = [c for c, rule in REFUSED[:18] if not any(word in rule for word in ("unique", "valid text"))]


@pytest.mark.parametrize("content", [c for c in SHAPES if "0001-01-01" not in json.dumps(c)])
def test_the_schema_refuses_shapes_that_the_loader_refuses(content):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, schema())

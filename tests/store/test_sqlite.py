"""The store keeps what was committed, refuses what is not its own, and is the same whatever the order of arrival."""

import contextlib
import dataclasses
import itertools
import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from datetime import datetime
from pathlib import Path

import pytest

from sodamem.errors import ConfigError, ProvenanceError, StoreError
from sodamem.store.sqlite import SqliteStore, Store
from sodamem.types import Edge, Entity, Extraction, MessagePiece

NOTHING = Extraction()
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.fixture(scope="module")
def history(talk):
    return talk(
        {
            "a 2024-01-01": ["Ann: I live in Bergen. 🙂", "Bob: Nice!"],
            "b 2024-02-01": ["Ann: I moved to Oslo.", "Bob: When?"],
            "c 2024-01-15": ["Ann: Rain."],
        }
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s" / "h.sqlite"


@pytest.fixture
def opened(path):
    """opened(…) -> a store at `path`, closed after the test."""
    stores = []

    def make(history="h", settings=None, frozen=False, at=None):
        stores.append(Store(at or path, history, settings or {}, frozen=frozen))
        return stores[-1]

    yield make
    for store in stores:
        with contextlib.suppress(sqlite3.ProgrammingError):  # closed by the test
            store.close()


@pytest.fixture(scope="module")
def extract(fact):
    """What a session yields: one fact for each turn, an entity, a rejection."""

    def make(session):
        return Extraction(
            pieces=tuple(MessagePiece(turn_id=turn.id, start=0, end=1, text=turn.text[0]) for turn in session.turns),
            facts=tuple(fact(f"f-{turn.id}", turn) for turn in session.turns),
            entities=(Entity(id="person:ann", type="person", surfaces=(f"Ann {session.id}", "Ann")),),
            rejected={"not_quoted": 1},
        )

    return make


def fill(store, sessions, extract):
    for session in sessions:
        store.add(session, extract(session))
    facts = store.facts(extracted=True)
    edges = [Edge(source=a.id, target=b.id, kind="SEMANTIC", weight=0.5) for a, b in itertools.pairwise(facts)]
    return store.finish(facts, edges)


# --- what is kept -------------------------------------------------------------------------------------------


def test_everything_comes_back_as_it_was_told(opened, history, extract):
    store = opened()
    fill(store, history.sessions, extract)
    a, b, c = history.sessions
    assert store.turns() == [*a.turns, *c.turns, *b.turns]  # in order of time
    assert [fact.id for fact in store.facts()] == ["f-a:0", "f-a:1", "f-c:0", "f-b:0", "f-b:1"]
    assert store.facts()[0] == extract(a).facts[0]
    assert len(store.edges()) == 4 and store.edges()[0].weight == 0.5
    assert [piece.id for piece in store.pieces()][:2] == ["a:0#0-1", "a:0#0-19"]
    assert store.entities() == [Entity(id="person:ann", type="person", surfaces=("Ann", "Ann a", "Ann b", "Ann c"))]
    assert store.counts() == {
        "sessions": 3, "turns": 5, "pieces": 10, "facts": 5, "profiles": 0, "entities": 3, "edges": 4, "rejected/not_quoted": 3,
    }  # fmt: skip


def test_adding_a_session_twice_changes_nothing(opened, history, extract):
    store = opened()
    first = fill(store, history.sessions, extract)
    counts = store.counts()
    for session in history.sessions:
        assert store.holds(session)
        store.add(session, extract(session))
    assert store.complete and store.fingerprint == first and store.counts() == counts


def test_the_order_of_arrival_leaves_no_trace(tmp_path, history, extract, opened):
    prints = {
        fill(opened(at=tmp_path / f"{n}.sqlite"), order, extract)
        for n, order in enumerate(itertools.permutations(history.sessions))
    }
    assert len(prints) == 1


@pytest.mark.parametrize("change", ["text", "speaker", "at", "caption", "role"])
def test_other_content_is_another_fingerprint(tmp_path, history, opened, change):
    prints = []
    for n, value in enumerate(("x", "y")):
        (session,) = history.sessions[2:]
        value = datetime(2024, 1, n + 1) if change == "at" else value
        turn = dataclasses.replace(session.turns[0], **{change: value})
        store = opened(at=tmp_path / f"{n}.sqlite")
        store.add(dataclasses.replace(session, turns=(turn,)), NOTHING)
        prints.append(store.finish([], []))
    assert prints[0] != prints[1]


def test_a_new_session_opens_a_sealed_store_again(opened, history, extract):
    store = opened()
    before = fill(store, history.sessions[:2], extract)
    store.add(history.sessions[2], NOTHING)
    assert not store.complete and store.fingerprint == ""
    assert fill(store, [], extract) != before


def test_the_view_that_currency_settled_is_kept_beside_what_was_extracted(opened, history, extract):
    store = opened()
    fill(store, history.sessions, extract)
    closed = [dataclasses.replace(fact, status="superseded") for fact in store.facts(extracted=True)]
    store.finish(closed, [])
    assert {fact.status for fact in store.facts()} == {"superseded"} and store.edges() == []
    assert {fact.status for fact in store.facts(extracted=True)} == {"active"}


@pytest.fixture
def profile(fact, history):
    """A profile that cites words of two sessions."""
    (first, *_), (second, *_) = history.sessions[0].turns, history.sessions[1].turns
    both = (*fact("p", first).pieces, *fact("p", second).pieces)
    return dataclasses.replace(fact("p", second, kind="profile", text="Ann: lives in Oslo."), pieces=both)


def test_profiles_are_kept_beside_the_facts_and_sealed(opened, history, extract, profile):
    store = opened()
    before = fill(store, history.sessions, extract)
    sealed = store.finish(store.facts(), store.edges(), [profile])
    assert store.profiles() == [profile] and profile not in store.facts() and store.counts()["profiles"] == 1
    changed = store.finish(store.facts(), store.edges(), [dataclasses.replace(profile, status="superseded")])
    assert store.finish(store.facts(), store.edges()) == before and store.profiles() == []
    assert len({before, sealed, changed}) == 3


def test_what_a_profile_cites_is_kept_as_long_as_it_is(opened, history, extract, profile):
    store = opened()
    fill(store, history.sessions, extract)
    cites = Edge(source="p", target="f-b:0", kind="DERIVED_FROM")
    store.finish(store.facts(), [cites, Edge(source="p", target="f-a:0", kind="SUPERSEDES")], [profile])
    store.finish(store.facts(), [], [profile])
    assert store.edges() == [cites]
    store.finish(store.facts(), [cites], [profile])  # said again: still one edge
    assert store.edges() == [cites]
    store.finish(store.facts(), [])
    assert store.edges() == []


# --- what is refused ----------------------------------------------------------------------------------------


def test_a_session_that_changed_under_its_id_is_refused(opened, history):
    store = opened()
    session = history.sessions[0]
    store.add(session, NOTHING)
    changed = dataclasses.replace(session, turns=session.turns[:1])
    for attempt in (store.holds, lambda changed: store.add(changed, NOTHING)):
        with pytest.raises(StoreError, match=r"session a in .* must stay as it was ingested.*new id") as caught:
            attempt(changed)
        assert "\n" not in str(caught.value)
    assert store.counts()["turns"] == 2


@pytest.mark.parametrize(
    "bad",
    [
        MessagePiece(turn_id="a:0", start=0, end=4, text="I lo"),
        MessagePiece(turn_id="a:9", start=0, end=1, text="I"),  # no such turn
        MessagePiece(turn_id="b:0", start=0, end=1, text="I"),  # of another session
        MessagePiece(turn_id="a:0", start=20, end=30, text="Bergen.  🙂"),  # beyond the end
    ],
)
def test_a_piece_that_does_not_quote_its_turn_is_refused_and_nothing_is_written(opened, history, bad):
    store = opened()
    with pytest.raises(ProvenanceError, match=r"piece .* must quote its turn exactly"):
        store.add(history.sessions[0], Extraction(pieces=(bad,)))
    assert store.counts()["sessions"] == 0


def test_a_fact_that_does_not_quote_its_turn_is_refused(opened, history, fact):
    store = opened()
    turn = dataclasses.replace(history.sessions[0].turns[0], text="I live in Bergen; 🙂")
    with pytest.raises(ProvenanceError, match=r"must quote its turn exactly, got 'I live in Bergen; 🙂'"):
        store.add(history.sessions[0], Extraction(facts=(fact("f", turn),)))


def test_facts_that_were_never_extracted_cannot_be_finished(opened, history, fact):
    store = opened()
    store.add(history.sessions[0], NOTHING)
    with pytest.raises(StoreError, match=r"must finish the facts it holds, got 1 others"):
        store.finish([fact("f", history.sessions[0].turns[0])], [])
    assert not store.complete


def test_a_profile_that_cites_words_nobody_said_is_refused_and_nothing_is_written(opened, history, extract, profile):
    store = opened()
    before = fill(store, history.sessions, extract)
    strange = MessagePiece(turn_id="a:0", start=0, end=3, text="I l")
    with pytest.raises(ProvenanceError, match=r"profile p must cite pieces of .*, got others\. Mend maintenance"):
        store.finish(store.facts(), [], [dataclasses.replace(profile, pieces=(strange,))])
    assert store.fingerprint == before and len(store.edges()) == 4


def test_a_store_of_other_settings_is_refused_in_one_short_line(opened):
    table = {f"slot{n}": {"cardinality": "single"} for n in range(100)}
    opened(settings={"currency": {"days": 7, "slots": table}}).close()
    with pytest.raises(StoreError, match=r"it has currency\.days 7, not 9\. Choose another store\.folder") as caught:
        opened(settings={"currency": {"days": 9, "slots": table}})
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_a_store_of_another_history_is_refused(opened):
    opened().close()
    with pytest.raises(StoreError, match=r"""it has history "h", not "h2"\. Choose"""):
        opened(history="h2")


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to look like one" * 40, b"SQLite format 3\0" + b"x" * 4096]
)
@pytest.mark.parametrize("frozen", [False, True])
def test_a_file_that_is_no_store_is_refused_in_one_line(opened, path, content, frozen):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(
        StoreError, match=r"store .*h\.sqlite must be (a SQLite file|readable), got: .*Delete it to build it again"
    ) as caught:
        opened(frozen=frozen)
    assert "\n" not in str(caught.value)


def test_another_programs_database_is_refused(opened, path):
    path.parent.mkdir()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE meta(key TEXT, value TEXT)")
    db.close()
    with pytest.raises(StoreError, match=r"must record its settings, got none"):
        opened()


def test_a_store_damaged_inside_gives_one_line_when_it_is_read(opened, path, history, extract):
    store = opened()
    fill(store, history.sessions, extract)
    store.close()
    data = bytearray(path.read_bytes())
    page = int.from_bytes(data[16:18], "big")
    for start in range(3 * page, len(data), page):  # the first pages hold the schema and meta
        data[start : start + page] = b"\xff" * page
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError, match=r"store .* must be readable, got: .*malformed.*Delete it") as caught:
        damaged = opened()
        damaged.turns()
        damaged.facts()
        damaged.counts()
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_be_written_is_refused_in_one_line(opened, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"store .* must be writable, got: .*Check the directory"):
        opened(at=tmp_path / "file" / "h.sqlite")


def test_an_empty_folder_name_is_refused():
    with pytest.raises(ConfigError, match=r"store\.folder must name a directory or be null, got ''"):
        SqliteStore(folder="", frozen=False)


# --- frozen -------------------------------------------------------------------------------------------------


def test_a_frozen_store_is_never_written(opened, path, history, extract):
    fill(opened(), history.sessions, extract)
    before = path.read_bytes()
    frozen = opened(frozen=True)
    with pytest.raises(StoreError, match=r"must not be written, it was opened frozen\. Set store\.frozen=false"):
        frozen.add(history.sessions[0], NOTHING)
    with pytest.raises(StoreError, match=r"must not be written|must be writable"):
        frozen.finish(frozen.facts(), [])
    assert len(frozen.turns()) == 5
    frozen.close()
    assert path.read_bytes()[100:] == before[100:]


def test_a_frozen_store_that_is_not_there_is_refused_and_not_made(opened, path):
    with pytest.raises(StoreError, match=r"store\.frozen must open an existing store, got none at .*Ingest first"):
        opened(frozen=True)
    assert not path.parent.exists()


def test_a_closed_store_leaves_one_file(opened, path, history, extract):
    fill(opened(), history.sessions, extract)
    Store(path, "h", {}, frozen=False).close()
    opened(frozen=True).close()


def test_a_frozen_store_opens_in_a_folder_that_cannot_be_written(history, extract):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s" / "h.sqlite"
        store = Store(path, "h", {}, frozen=False)
        fingerprint = fill(store, history.sessions, extract)
        store.close()
        assert [file.name for file in path.parent.iterdir()] == ["h.sqlite"]
        Path(folder).chmod(0o755)
        path.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
        path.parent.chmod(0o555)
        script = (
            "import os, sys; from pathlib import Path; from sodamem.store.sqlite import Store\n"
            "os.geteuid() or os.setuid(65534)  # root may write anywhere\n"
            "s = Store(Path(sys.argv[1]), 'h', {}, frozen=True); print(s.fingerprint, len(s.turns())); s.close()\n"
        )
        argv = [sys.executable, "-c", script, str(path)]
        run = subprocess.run(argv, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        path.parent.chmod(0o755)
        assert run.stdout.split() == [fingerprint, "5"], run.stderr


# --- names --------------------------------------------------------------------------------------------------


def test_a_history_id_never_becomes_a_file_name(tmp_path, talk):
    history = talk({"a 2024-01-01": ["Ann: Hi."]}, id="../../etc/passwd")
    with SqliteStore(folder=str(tmp_path / "f"), frozen=False).open(history, {}, tmp_path / "unused") as store:
        assert store.path.parent == tmp_path / "f" and store.path.stem.isalnum()
    assert not (tmp_path / "unused").exists()


def test_histories_with_equal_session_ids_do_not_mix(tmp_path, talk):
    options = SqliteStore(folder=None, frozen=False)
    for id in ("one", "two"):
        history = talk({"a 2024-01-01": [f"Ann: I am {id}."]}, id=id)
        with options.open(history, {}, tmp_path) as store:
            store.add(history.sessions[0], NOTHING)
            assert [turn.text for turn in store.turns()] == [f"I am {id}."]


def test_every_combination_of_settings_has_a_folder_of_its_own(tmp_path, talk):
    options, folders = SqliteStore(folder=None, frozen=False), set()
    for settings in ({"x": 1}, {"x": 2}, {"x": 1}):
        with options.open(talk({}), settings, tmp_path) as store:
            folders.add(store.path.parent)
    assert len(folders) == 2


# --- kills and crowds ---------------------------------------------------------------------------------------

KILLED = """
import os, pickle, sys
from pathlib import Path
from sodamem.store.sqlite import Store
from sodamem.types import Extraction

class Deadly(tuple):
    count = 0
    def __iter__(self):
        Deadly.count += 1
        if Deadly.count == int(sys.argv[2]):   # the first pass checks the pieces, the second is within the transaction
            os.kill(os.getpid(), 9)
        return super().__iter__()

history = pickle.loads(Path(sys.argv[3]).read_bytes())
store = Store(Path(sys.argv[1]), "h", {}, frozen=False)
store.add(history.sessions[0], Extraction())
store.add(history.sessions[1], Extraction(facts=Deadly()))
"""


@pytest.mark.parametrize("pass_", [1, 2], ids=["before the transaction", "within the transaction"])
def test_a_kill_loses_no_committed_session_and_the_next_run_goes_on(opened, path, history, tmp_path, pass_):
    (tmp_path / "history").write_bytes(pickle.dumps(history))
    argv = [sys.executable, "-c", KILLED, str(path), str(pass_), str(tmp_path / "history")]
    assert subprocess.run(argv, env=ENVIRONMENT, check=False).returncode == -9
    store = opened()
    assert [store.holds(session) for session in history.sessions] == [True, False, False]
    assert store.counts()["turns"] == 2 and not store.complete
    for session in history.sessions:
        store.add(session, NOTHING)
    undisturbed = opened(at=tmp_path / "other.sqlite")
    for session in history.sessions:
        undisturbed.add(session, NOTHING)
    assert store.finish([], []) == undisturbed.finish([], [])


def test_a_fault_within_a_session_leaves_nothing_of_it(opened, history, extract):
    store = opened()

    class Torn(tuple):
        def __iter__(self):
            yield from super().__iter__()
            if torn:
                raise RuntimeError("torn")

    torn: list[int] = []
    extraction = extract(history.sessions[0])
    broken = dataclasses.replace(extraction, entities=Torn(extraction.entities))
    torn.append(1)
    with pytest.raises(RuntimeError, match="torn"):
        store.add(history.sessions[0], broken)
    assert set(store.counts().values()) == {0}


def test_workers_that_open_a_new_store_together_agree(tmp_path, history, extract):
    for number in range(12):
        path = tmp_path / f"{number}.sqlite"
        barrier, prints, faults = threading.Barrier(4), [], []

        def work(path=path, barrier=barrier, prints=prints, faults=faults):
            try:
                barrier.wait()
                store = Store(path, "h", {}, frozen=False)
                prints.append(fill(store, history.sessions, extract))
                store.close()
            except Exception as error:
                faults.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not faults and len(set(prints)) == 1


def test_two_processes_that_open_a_new_store_together_both_succeed(path, tmp_path, history):
    (tmp_path / "history").write_bytes(pickle.dumps(history))
    script = (
        "import pickle, sys; from pathlib import Path; from sodamem.store.sqlite import Store\n"
        "from sodamem.types import Extraction\n"
        "history = pickle.loads(Path(sys.argv[2]).read_bytes()); sys.stdin.read(1)\n"
        "s = Store(Path(sys.argv[1]), 'h', {}, frozen=False)\n"
        "for session in history.sessions: s.add(session, Extraction())\n"
        "print(s.finish([], [])); s.close()\n"
    )
    argv = [sys.executable, "-c", script, str(path), str(tmp_path / "history")]
    workers = [subprocess.Popen(argv, env=ENVIRONMENT, stdin=-1, stdout=-1, stderr=-1, text=True) for _ in range(2)]
    outputs = [worker.communicate("x") for worker in workers]
    assert [error for _, error in outputs] == ["", ""]
    assert len({output for output, _ in outputs}) == 1 and len(outputs[0][0].strip()) == 64


def test_datasets_that_share_the_ids_of_their_histories_do_not_share_a_store(talk, tmp_path):
    paths = set()
    for words in ("Ann: One.", "Ann: Two."):
        history = talk({"a 2024-01-01": [words]})
        with SqliteStore(folder=None, frozen=False).open(history, {}, tmp_path) as store:
            paths.add(store.path)
    assert len(paths) == 2

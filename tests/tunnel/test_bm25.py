"""BM25 against a second implementation, and the corpora and questions that break lexical indexes."""

import math
from itertools import pairwise

import numpy as np
import pytest

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.tunnel.bm25 import BM25Tunnel
from sodamem.tunnel.documents import Documents
from sodamem.tunnel.expansion import Expansion

PLAIN = Expansion(neighbours=0, hops=0, degree=1, keep=1, soft_time=0.0)


def bm25(**fields):
    documents = Documents(**{"scope": "item", "kinds": ["turn"], "context": [], **fields.pop("documents", {})})
    given = {"strength": "strong", "heads": None, "documents": documents, "expansion": PLAIN, "k1": 1.2, "b": 0.75}
    return BM25Tunnel(**{**given, **fields})


def reference(query, documents, k1, b):
    """Okapi BM25 in Lucene's form, term by term."""
    n, average = len(documents), sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for term in query:
            holders = sum(term in other for other in documents)
            count = document.count(term)
            idf = math.log(1 + (n - holders + 0.5) / (holders + 0.5))
            if count:
                score += idf * count / (count + k1 * (1 - b + b * len(document) / average))
        scores.append(score)
    return scores


LINES = [
    "Ann: I adopted a puppy named Biscuit on May 7, and the puppy ate my shoes.",
    "Bob: A puppy! What breed is the puppy?",
    "Ann: A corgi. He cost $1,250 and eats at 9:30.",
    "Bob: My cousin José lives in Zürich with two corgis.",
    "Ann: 我喜欢拉面。",
    "Bob: 🙂🙂",
    "Ann: The?",
    "Bob: Puppies, puppies, puppies and a corgi!",
]


@pytest.fixture(scope="module")
def snapshot(talk, remember):
    return remember(talk({"a 2024-01-01": LINES[:4], "b 2024-02-01": LINES[4:]}))


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.0, 0.0), (2.0, 1.0), (0.5, 0.3)])
@pytest.mark.parametrize(
    "words", ["What breed is the puppy of Ann?", "corgi corgi Zürich 9:30", "puppies shoes", "我拉面"]
)
def test_scores_equal_a_second_implementation(snapshot, asking, words, k1, b):
    documents = [text.terms(line.partition(": ")[2]) for line in LINES]
    expected = reference(text.terms(words), documents, k1, b)
    found = bm25(k1=k1, b=b).open(snapshot).search(asking(words))
    dense = np.zeros(len(LINES))
    dense[found.item] = found.score
    assert dense.tolist() == pytest.approx(expected, abs=1e-4)
    assert max(expected) > 0


def test_the_best_come_first_and_ranks_count_from_one(snapshot, asking):
    found = bm25().open(snapshot).search(asking("puppy corgi"))
    assert found.score.tolist() == sorted(found.score, reverse=True)
    assert found.head.tolist() == list(range(1, len(found) + 1)) and found.direct.all()


@pytest.mark.parametrize("words", ["", "what is the of", "🙂", "!?", "helicopter"])
def test_a_question_without_a_known_word_finds_nothing(snapshot, asking, words):
    assert len(bm25().open(snapshot).search(asking(words))) == 0


@pytest.mark.parametrize("lines", [["Ann: 🙂", "Bob: ?!"], ["Ann: the", "Bob: of and"]])
def test_a_corpus_without_a_single_word_can_be_searched(talk, remember, asking, lines):
    memory = remember(talk({"a 2024-01-01": lines}))
    assert len(bm25().open(memory).search(asking("the puppy"))) == 0


def test_an_empty_corpus_can_be_searched(talk, remember, asking):
    empty = remember(talk({}))
    for documents in ({}, {"context": [0.5, 0.25]}, {"scope": "session"}):
        assert len(bm25(documents=documents).open(empty).search(asking("puppy"))) == 0


def test_scripts_without_spaces_are_found_by_character(snapshot, asking):
    assert bm25().open(snapshot).search(asking("拉面")).item.tolist() == [4]


def test_more_heads_than_documents_is_no_fault(snapshot, asking):
    searcher = bm25(heads=1000).open(snapshot)
    assert searcher.search(asking("puppy")).item.tolist() == bm25().open(snapshot).search(asking("puppy")).item.tolist()


def test_ties_go_by_row_and_a_shorter_list_is_a_prefix_of_a_longer_one(talk, remember, asking):
    memory = remember(talk({"a 2024-01-01": ["Ann: a corgi"] * 3 + ["Ann: corgi, corgi!"] + ["Ann: a corgi"] * 3}))
    lists = [bm25(heads=k).open(memory).search(asking("corgi")).item.tolist() for k in range(1, 8)]
    assert lists[-1] == [3, 0, 1, 2, 4, 5, 6]
    assert all(shorter == longer[:-1] for shorter, longer in pairwise(lists))


def test_a_repeated_word_of_the_question_counts_again(snapshot, asking):
    once, twice = (bm25().open(snapshot).search(asking(words)) for words in ("puppy", "puppy puppy"))
    assert twice.score.tolist() == pytest.approx((2 * once.score).tolist(), abs=1e-5)


def test_a_session_gives_its_score_to_all_its_turns(snapshot, asking):
    found = bm25(documents={"scope": "session"}).open(snapshot).search(asking("puppy José"))
    scores = dict(zip(found.item.tolist(), found.score.tolist(), strict=True))
    documents = [text.terms(" ".join(line.partition(": ")[2] for line in part)) for part in (LINES[:4], LINES[4:])]
    first, second = reference(text.terms("puppy José"), documents, 1.2, 0.75)
    assert scores == pytest.approx({**dict.fromkeys(range(4), first), **dict.fromkeys(range(4, 8), second)}, abs=1e-4)


def test_the_index_on_disk_answers_as_the_one_in_memory(talk, remember, asking, monkeypatch):
    memory = remember(talk({"a 2024-01-01": LINES}))
    fresh = bm25().open(memory).search(asking("puppy corgi"))
    monkeypatch.setattr("sodamem.tunnel.bm25._ON_DISK_FROM", 0)
    written, read = (bm25().open(memory).search(asking("puppy corgi")) for _ in range(2))
    for found in (written, read):
        assert found.item.tolist() == fresh.item.tolist() and found.score.tolist() == fresh.score.tolist()
    assert list(memory.folder.rglob("stamp.json"))


def test_indexes_of_other_texts_do_not_stand_in_for_each_other(talk, remember, asking, monkeypatch):
    """Turns indexed with and without captions are different documents over the same store."""
    import dataclasses

    from sodamem.store.snapshot import Snapshot
    from sodamem.store.sqlite import Store

    monkeypatch.setattr("sodamem.tunnel.bm25._ON_DISK_FROM", 0)
    history = talk({"a 2024-01-01": ["Ann: Look!", "Bob: Nice corgi."]})
    (session,) = history.sessions
    turn = dataclasses.replace(session.turns[0], caption="a corgi on a beach")
    history = dataclasses.replace(history, sessions=(dataclasses.replace(session, turns=(turn, session.turns[1])),))
    path = remember(history).folder.with_suffix(".sqlite")
    store = Store(path, "h", {}, frozen=False)
    found = [
        bm25().open(Snapshot(store, speaker_in_text=False, caption_in_text=caption)).search(asking("beach corgi"))
        for caption in (False, True)
    ]
    store.close()
    assert [len(table) for table in found] == [1, 2]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("k1", -0.1, r"bm25\.k1 must be >= 0, got -0\.1"),
        ("k1", float("nan"), r"bm25\.k1 must be >= 0, got nan"),
        ("b", 1.01, r"bm25\.b must be between 0 and 1, got 1\.01"),
        ("heads", 0, r"tunnel\.heads must be >= 1, or null for no limit, got 0"),
        ("strength", "medium", r"tunnel\.strength must be strong or weak, got 'medium'"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(field, value, said):
    with pytest.raises(ConfigError, match=said):
        bm25(**{field: value})

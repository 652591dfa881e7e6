"""What a run says it will ask for, before it asks."""

from sodamem import build
from sodamem.config import plain
from sodamem.forecast import loads


def test_the_load_of_a_run_is_told_for_every_part_that_asks_and_for_no_other(compose):
    cfg = compose("chat=scripted", "extractor=llm", "reader=llm", "dataset.histories=2")
    corpus = build.component(cfg, "dataset").open()
    questions = sum(len(corpus.questions(history)) for history in corpus.history_ids)
    found = {load.phase: load for load in loads(plain(cfg), ["extractor", "reader"], corpus)}
    assert set(found) == {"extract", "read"}
    assert found["read"].calls == questions
    sessions = sum(len(corpus.history(history).sessions) for history in corpus.history_ids)
    assert found["extract"].calls >= sessions
    assert found["read"].prompt > plain(cfg)["reader"]["evidence_tokens"]

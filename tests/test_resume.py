import json
from dataclasses import replace

import pytest

from sodamem import build, config, report, resume
from sodamem.errors import DataError
from sodamem.evaluate import results
from sodamem.ledger import Ledger


@pytest.fixture(scope="module")
def found(tmp_path_factory, tiny):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SODAMEM_RUNS", str(tmp_path_factory.mktemp("runs")))
        cfg = config.compose(*tiny)
        corpus = build.component(cfg, "dataset").open()
        return list(results(build.pipeline(cfg), corpus, build.component(cfg, "judge")))


def test_a_result_from_the_ledger_reports_like_the_one_that_was_put_in(found):
    assert found
    for result in found:
        again = resume.load(json.loads(json.dumps(resume.dump(result))), result.question)
        assert report.row(again, 99) == report.row(result, 99)
        assert report.worked(again) == report.worked(result)
        assert (again.answer, again.verdict, again.measures) == (result.answer, result.verdict, result.measures)
        assert [item.text for item in again.evidence] == [item.text for item in result.evidence]
        assert resume.status(again) == resume.status(result) == ("ok", "")


def test_a_row_that_is_no_result_is_named(found):
    with pytest.raises(DataError, match=f"ledger row of question {found[0].question.id}"):
        resume.load({"answer": {}}, found[0].question)


def test_a_question_is_answered_once_and_a_failed_one_again(found, tmp_path):
    good = found[0]
    bad = replace(good, answer=replace(good.answer, status="failed", trace=({"failed": "timeout"},)))
    lost = replace(good, verdict=replace(good.verdict, label="unjudged", reason="empty"))
    made = []

    def make(result):
        made.append(result)
        return result

    with Ledger(tmp_path / "ledger.sqlite", {}) as ledger:
        keep = resume.once(ledger)
        for result, status in ((bad, ("failed", "timeout")), (lost, ("unjudged", "empty")), (good, ("ok", ""))):
            assert keep(good.question, lambda result=result: make(result)) is result
            row = ledger.result(good.question.id)
            assert (row.status, row.reason) == status
        assert report.row(keep(good.question, lambda: make(bad)), 99) == report.row(good, 99)
        assert made == [bad, lost, good] and len(ledger.results()) == 1


def test_settings_tell_phases_apart_and_leave_patience_out(tiny):
    def settings(*overrides):
        return resume.settings(config.plain(config.compose(*tiny, *overrides)), "sha")

    plain = settings()
    assert plain["extract"]["data"] == "sha" and set(plain) == {"extract", "plan", "read", "judge"}
    for override, phase in (("recall.top_k=7", "plan"), ("reader.depth=4", "read"), ("judge.f1=0.5", "judge")):
        changed = settings(override)
        assert {name for name in plain if changed[name] != plain[name]} == {phase}
    assert settings("encoder=minilm", "encoder.threads=1") == settings("encoder=minilm", "encoder.threads=2")

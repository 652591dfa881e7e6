"""Facts by a model: kept when the words bear them, counted by reason when not; an outage leaves nothing behind."""

import dataclasses
import json
from collections import Counter
from datetime import datetime

import pytest

from sodamem import build, config
from sodamem.errors import ConfigError, ModelError, PromptError, ReplyError
from sodamem.extractor.llm import LlmExtractor
from sodamem.timeline.none import NoTimeline


@pytest.fixture(scope="module")
def calendar():
    return build.component(config.compose(), "timeline")


@pytest.fixture
def extract(option, talk, calendar):
    """extract(chat, ["Ann: …"], …) -> what the one session of these lines yields."""

    def run(chat, lines, at="2023-05-08T10:00", timeline=None, user="user", **changes):
        history = talk({f"a {at}": lines}, user=user)
        extractor = LlmExtractor(chat=chat, **{**option("extractor/llm"), **changes})
        return extractor.extract(history.sessions[0], history, timeline or calendar)

    return run


def claim(quote, turn="t1", subject="speaker", predicate="lives_in", value="Leeds", **more):
    roles = [{"name": name, "words": words} for name, words in more.pop("roles", {}).items()]
    given = {"turn": turn, "quote": quote, "subject": subject, "predicate": predicate, "value": value, "roles": roles}
    given["quantity"] = None
    return {**given, "kind": "state", "modality": "current_state", "flags": [], "polarity": True, **more}


def found(*facts):
    return {"reasoning": "r", "facts": list(facts)}


def test_a_fact_has_the_words_the_place_and_the_times_of_its_turn(extract, saying):
    line = "Caroline: Hi! I moved to Leeds last month. It is nice."
    said = claim("I moved to Leeds last month", flags=["state_change"])
    fact = extract(saying(found(said)), [line]).facts[0]
    piece = fact.pieces[0]
    assert (piece.turn_id, piece.start, piece.end, piece.text) == ("a:0", 4, 31, "I moved to Leeds last month")
    assert (fact.subject, fact.roles[0].entity, fact.predicate) == ("person:caroline", "place:leeds", "lives_in")
    assert fact.order == ("2023-05-08T10:00:00", 0, 4) and fact.mentioned_at == datetime(2023, 5, 8, 10)
    assert fact.valid_from == datetime(2023, 4, 1) and fact.occurred.grain == "month"
    assert fact.text.startswith("Caroline lives in Leeds (since 1 April 2023")


def test_entities_and_sentences_are_written_as_by_the_rules(extract, saying):
    made = extract(saying(found(claim("I live in Leeds"))), ["Caroline: Hi. I live in Leeds."])
    assert {entity.id for entity in made.entities} == {"person:caroline", "place:leeds"}
    assert [piece.text for piece in made.pieces] == ["Hi.", "I live in Leeds.", "I live in Leeds"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (claim("I live in Paris"), "not_found"),
        (claim("I live in leeds"), "not_found"),
        (claim("Leeds"), "ambiguous"),
        (claim("   "), "empty"),
        (claim("I live in Leeds", turn="t2"), "unknown_turn"),
        (claim("I live in Leeds", turn="c1"), "context"),
        (claim("I live in Leeds", value="Manchester"), "invented"),
        (claim("I live in Leeds", value=""), "invented"),
        (claim("I live in Leeds", value="?!"), "invented"),
        (claim("I live in Leeds", roles={"with": "Esmeralda"}), "invented"),
        (claim("I live in Leeds", subject="Esmeralda"), "invented"),
        (claim("I live in Leeds", subject="speaker's hamster"), "invented"),
        (claim("I live in Leeds", quantity={"value": 3, "unit": "km", "words": "3 km"}), "invented"),
    ],
)
def test_what_the_words_do_not_bear_is_rejected_and_counted(extract, saying, said, reason):
    made = extract(saying(found(said)), ["Caroline: I live in Leeds. Leeds is nice."])
    assert made.facts == () and made.rejected == {reason: 1}


def test_offsets_are_code_points_and_found_after_normalising(extract, saying):
    line = "Ann: 🙂❤️ I bought\n a cafe\u0301 table."
    fact = extract(saying(found(claim("I bought a café table", predicate="bought", value="café table"))), [line]).facts[
        0
    ]
    assert fact.pieces[0].text == "I bought\n a cafe\u0301 table"
    assert line[5:][fact.pieces[0].start : fact.pieces[0].end] == fact.pieces[0].text


def test_an_assistant_states_nothing_about_the_user(extract, saying):
    lines = ["user: Where to go?", "assistant: You could try Lisbon in May. You live in Leeds."]
    said = (
        claim("You could try Lisbon in May", turn="t2", predicate="visited", value="Lisbon", modality="future_plan"),
        claim("You live in Leeds", turn="t2", subject="user"),
    )
    facts = extract(saying(found(*said)), lines).facts
    assert {fact.subject for fact in facts} == {"person:assistant"}
    assert [fact.modality for fact in facts] == ["advice", "external_info"]
    assert all("third_party" in fact.flags for fact in facts)


def test_the_owner_of_a_thing_is_whoever_speaks_of_his(extract, saying):
    lines = ["Caroline: I painted this bowl.", "Melanie: Your bowl is lovely. I am proud of you."]
    wrong = claim("I painted this bowl", subject="Melanie", predicate="made", value="bowl")
    right = claim("Your bowl is lovely", turn="t2", subject="Caroline", predicate="owns", value="bowl")
    made = extract(saying(found(wrong, right)), lines)
    assert [(fact.subject, "third_party" in fact.flags) for fact in made.facts] == [("person:caroline", True)]
    assert made.rejected == {"wrong_subject": 1}


def test_relations_belong_to_the_speaker(extract, saying):
    made = extract(
        saying(found(claim("my sister lives in Leeds", subject="speaker's sister"))),
        ["Ann: Well, my sister lives in Leeds."],
    )
    assert made.facts[0].subject == "person:ann/sister" and made.facts[0].flags == ("third_party",)


def test_the_user_of_a_memory_may_have_a_name(extract, saying):
    made = extract(saying(found(claim("I live in Leeds", subject="user"))), ["user: I live in Leeds."], user="Robin")
    assert made.facts[0].subject == "person:robin" and made.facts[0].flags == ()


def test_recalled_text_is_not_extracted_again(extract, saying):
    line = "assistant: <memory>The user lives in Leeds.</memory> How is it?"
    assert extract(saying(found(claim("The user lives in Leeds"))), [line]).rejected == {"recalled": 1}


def test_a_stamp_in_the_text_is_no_time_of_what_is_told(extract, saying):
    line = "Ann: (updated 2026-05-18) I moved to Leeds in March."
    said = claim("(updated 2026-05-18) I moved to Leeds in March", flags=["state_change"])
    fact = extract(saying(found(said)), [line]).facts[0]
    assert all("2026" not in value.words for value in fact.times) and fact.occurred.start == datetime(2023, 3, 1)
    assert fact.valid_from == datetime(2023, 3, 1)


def test_no_time_stands_in_the_prompt_and_none_is_guessed_without_a_timeline(extract, saying):
    chat = saying(found(claim("I live in Leeds")))
    made = extract(chat, ["Ann: I live in Leeds."], at="2019-12-31T23:45", timeline=NoTimeline())
    assert not any(stamp in chat.prompts[0].split("<<")[-1] for stamp in ("2019", "12-31", "23:45"))
    assert made.facts[0].occurred is None


def test_what_lies_ahead_has_not_happened(extract, saying):
    said = claim("I fly to Leeds tomorrow", predicate="visited", modality="past_event", kind="event")
    assert extract(saying(found(said)), ["Ann: I fly to Leeds tomorrow."]).facts[0].modality == "future_plan"


def test_a_reply_may_not_hold_more_facts_than_its_turns_may_have(extract, saying):
    chat = saying(found())
    extract(chat, ["Ann: I live in Leeds.", "Bob: Hi."], max_facts_per_turn=4)
    assert chat.asked[0].schema["properties"]["facts"]["maxItems"] == 8


def test_facts_of_one_turn_are_capped_across_windows(extract, saying):
    line = "Ann: " + " ".join(f"w{n}" for n in range(120))
    chat = saying(
        found(claim("w1 w2", value="w1"), claim("w3 w4", value="w3")), *[found(claim("w80 w81", value="w80"))] * 2
    )
    made = extract(chat, [line], max_facts_per_turn=2, window_tokens=60)
    assert len(made.facts) == 2 and made.rejected == {"runaway": 1}


def test_a_loop_says_the_same_fact_once(extract, saying):
    made = extract(saying(found(*[claim("I live in Leeds")] * 9)), ["Ann: I live in Leeds."])
    assert len(made.facts) == 1 and made.rejected == {"duplicate": 8}


# --- windows and replies that were cut off ------------------------------------------------------------------


def partial(*facts, cut=30):
    return json.dumps(found(*facts))[:-2] + ", " + json.dumps(claim("x"))[:cut]


def test_a_cut_off_reply_keeps_whole_facts_and_asks_for_the_rest_in_halves(extract, saying, cut_off):
    lines = [f"Ann: I live in Leeds {n}." for n in range(4)]
    first = cut_off(partial(claim("I live in Leeds 0"), claim("I live in Leeds 1", turn="t2")))
    # t1 is complete; t2, t3 and t4 are asked for again, in two windows
    chat = saying(
        first,
        found(claim("I live in Leeds 1")),
        found(claim("I live in Leeds 2"), claim("I live in Leeds 3", turn="t2")),
    )
    made = extract(chat, lines)
    assert [fact.pieces[0].turn_id for fact in made.facts] == ["a:0", "a:1", "a:2", "a:3"] and made.rejected == {}
    assert "[c1] Ann: I live in Leeds 0." in chat.prompts[1] and "[t1] Ann: I live in Leeds 1." in chat.prompts[1]


def test_a_second_cut_is_counted_and_not_asked_again(extract, saying, cut_off):
    lines = [f"Ann: I live in Leeds {n}." for n in range(2)]
    chat = saying(
        cut_off('{"reasoning": "so'), cut_off(partial(claim("I live in Leeds 0"))), found(claim("I live in Leeds 1"))
    )
    made = extract(chat, lines)
    assert len(made.facts) == 2 and made.rejected == {"truncated": 1} and not chat.replies


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_half_written_fact_is_never_kept(extract, saying, cut_off, cut):
    made = extract(saying(cut_off(partial(claim("I live in Leeds"), cut=cut))), ["Ann: I live in Leeds."])
    assert len(made.facts) == 1 and made.rejected == {"truncated": 1}


def test_words_in_a_fact_do_not_end_it(extract, saying, cut_off):
    odd = 'I said "facts": [{"turn"}] in Leeds'
    made = extract(saying(cut_off(partial(claim(odd)))), [f"Ann: {odd}."])
    assert len(made.facts) in (0, 1) and made.rejected["truncated"] == 1


def test_a_reply_that_cannot_be_used_is_asked_for_again_in_halves_then_counted(extract, saying):
    lines = ["Ann: I live in Leeds.", "Ann: I like tea."]
    bad = ReplyError("no JSON", reason="invalid")
    made = extract(saying(bad, found(claim("I live in Leeds")), bad), lines)
    assert len(made.facts) == 1 and made.rejected == {"unusable": 1}


def test_a_prompt_that_is_too_long_is_cut_in_two_or_refused(extract, saying):
    long = PromptError("too long", reason="prompt_too_long")
    assert (
        len(
            extract(saying(long, found(claim("I live in Leeds")), found()), ["Ann: I live in Leeds.", "Ann: Hm."]).facts
        )
        == 1
    )
    with pytest.raises(PromptError):
        extract(saying(long), ["Ann: I live in Leeds."])


def test_an_outage_leaves_the_session_out_of_the_store_and_the_next_run_goes_on(option, talk, compose, saying, runs):
    history = talk({"a 2024-01-01": ["Ann: I live in Leeds."], "b 2024-02-01": ["Ann: I live in York."]})
    plain = dataclasses.replace(build.pipeline(compose()), stores=runs / "stores", cache=None)
    broken = saying(found(claim("I live in Leeds")), ModelError("gone", reason="unreachable"))
    keys = option("extractor/llm")
    with (
        pytest.raises(ModelError),
        dataclasses.replace(plain, extractor=LlmExtractor(chat=broken, **keys)).open(history),
    ):
        pass
    again = saying(found(claim("I live in York", value="York")))
    with dataclasses.replace(plain, extractor=LlmExtractor(chat=again, **keys)).open(history) as memory:
        assert [fact.roles[0].words for fact in memory.snapshot.facts] == ["Leeds", "York"]
    assert len(again.asked) == 1 and "York" in again.prompts[0]


def test_equal_sessions_give_equal_extractions(extract, saying):
    said, lines = (
        found(claim("I live in Leeds"), claim("I like tea", turn="t2", predicate="likes", value="tea")),
        ["Ann: I live in Leeds.", "Bob: I like tea."],
    )
    one, two = (saying(said), saying(said))
    assert extract(one, lines) == extract(two, lines) and one.prompts == two.prompts


@pytest.mark.parametrize("name", ["llm", "llm_coarse", "llm_entity"])
def test_every_variant_asks_with_its_own_words(option, talk, calendar, saying, name):
    chat, history = saying(found()), talk({"a 2024-01-01": ["Ann: I live in Leeds."]})
    LlmExtractor(chat=chat, **option(f"extractor/{name}")).extract(history.sessions[0], history, calendar)
    system = chat.asked[0].messages[0].content
    assert "{{" not in system and "lives_in" in system and chat.asked[0].phase == "extract"


def test_a_thing_may_be_what_a_fact_is_about(extract, saying):
    made = extract(
        saying(found(claim("the piano is old", subject="piano", predicate="is", value="old"))),
        ["Ann: Well, the piano is old."],
    )
    assert made.facts[0].subject == "thing:piano"


def test_reasons_come_before_facts_and_truth_last(extract, saying):
    chat = saying(found())
    extract(chat, ["Ann: Hi."])
    schema = chat.asked[0].schema
    assert list(schema["properties"]) == ["reasoning", "facts"]
    assert list(schema["properties"]["facts"]["items"]["properties"])[-1] == "polarity"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"window_tokens": 10}, r"extractor\.window_tokens must be >= 50, got 10"),
        ({"max_facts_per_turn": 0}, r"extractor\.max_facts_per_turn must be >= 1, got 0"),
        ({"prompt": "x"}, r"extractor\.prompt must be one of .*extract_coarse"),
    ],
)
def test_a_wrong_value_is_named(extract, saying, changes, said):
    with pytest.raises(ConfigError, match=said):
        extract(saying(), ["Ann: Hi."], **changes)


def test_counts_are_plain(extract, saying):
    made = extract(saying(found(claim("a"), claim("b"), claim("Hi", turn="t9"))), ["Ann: Hi."])
    assert Counter(made.rejected) == {"not_found": 2, "unknown_turn": 1} and list(made.rejected) == sorted(
        made.rejected
    )

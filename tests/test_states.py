"""Questions for a state: every slot is asked for in English, and nothing else is taken for one."""

from datetime import datetime

import pytest
import yaml

from sodamem import config, states
from sodamem.states import answering, state_asked, subjects
from sodamem.types import Interval, Role

NOW = datetime(2024, 6, 1)
ASKED = {
    "lives_in": [
        "Where does Ann currently live?",
        "Which village are my parents living in?",
        "What is Bob's home town?",
    ],
    "is_from": ["Where is she originally from?", "What's Ann's home country?"],
    "works_at": [
        "Where do I work?",
        "Which company does Bob work for?",
        "Who employs Ann?",
        "Who is my current employer?",
    ],
    "job_title": ["What does Ann do for a living?", "What is my new job title?", "Which profession does he have?"],
    "relationship_status": ["What's her relationship status?", "Is Bob still single?"],
    "partner": ["Who is Ann's husband?"],
    "commute": ["How does Ann get to the office?", "How am I commuting these days?"],
    "gym": ["Which gym do I use?", "Where does Bob work out?"],
    "diet": ["What diet is Ann on?"],
    "weighs": ["How much does Bob weigh?", "What is my current weight?"],
    "age": ["How old is Ann?"],
    "rent": ["How much is my rent?"],
    "phone_number": ["What is Bob's phone number?"],
    "phone_plan": ["Which mobile plan do I have?"],
    "internet_speed": ["How fast is our broadband?"],
    "manager": ["Who is my new boss?", "Who does Ann report to?"],
    "assigned_to": ["Which project is Bob working on now?"],
    "studies_at": ["Where does Ann study?", "Which university is he going to?"],
    "studies": ["What is Bob studying?"],
    "best_time": ["What's my personal best over 10K?", "What is Ann's fastest marathon time?"],
    "favourite": ["What is Bob's favourite film?", "Which colour do I like best?"],
    "has_pet": ["What pets does Ann have?"],
    "has_child": ["How many children does Bob have?"],
    "has_sibling": ["Do I have siblings? How many siblings?"],
    "allergic_to": ["What is Ann allergic to?"],
    "plays_instrument": ["Which instruments does Bob play?"],
    "plays": ["Which sports does Ann play?"],
    "has_hobby": ["What are my hobbies?"],
    "speaks": ["How many languages does Bob speak?"],
    "member_of": ["Which club does Ann belong to?"],
    "subscribes_to": ["Which magazines am I subscribed to?"],
    "volunteers_at": ["Where does Bob volunteer?"],
    "drives": ["What kind of car does Ann drive?"],
    "owns": ["Do I still own a canoe?"],
}
OTHER = [
    "When did I move to Leeds?",
    "Why did Ann quit her job?",
    "How long has Bob lived in York?",
    "What did Ann buy last week?",
    "Who came to the party?",
    "What did Bob say about the film?",
    "How many days ago did I start the course?",
]


def test_every_slot_of_the_table_is_asked_for_and_is_a_slot_of_currency():
    table = states._table()
    assert {names[0] for names in table} == set(ASKED) and len(ASKED) >= 30
    declared = config.plain(config.compose().currency)["slots"]
    assert {name for names in table for name in names} <= set(declared)


@pytest.mark.parametrize(("slot", "question"), [(slot, one) for slot, some in ASKED.items() for one in some])
def test_a_question_for_a_state_is_known_by_its_slot(slot, question):
    assert state_asked(question, NOW, None).predicates[0] == slot


@pytest.mark.parametrize("question", OTHER)
def test_a_question_for_an_event_is_not_taken_for_one(question):
    assert state_asked(question, NOW, None) is None


def test_the_table_is_plain_patterns():
    from importlib import resources

    read = yaml.safe_load((resources.files("sodamem") / "states.yaml").read_text(encoding="utf-8"))
    assert all(isinstance(pattern, str) for patterns in read.values() for pattern in patterns)


def test_the_time_asked_about_is_read():
    day = Interval(start=datetime(2024, 3, 1), end=datetime(2024, 3, 2), grain="day")
    assert state_asked("Where do I live now?", NOW, None).when == "now"
    assert state_asked("Where did I originally live?", NOW, None).when == "first"
    assert state_asked("Where did I live before?", NOW, None).when == "before"
    assert state_asked("Where did I live on 1 March 2024?", NOW, day).when == "within"
    assert state_asked("Where do I live today?", NOW, day).when == "now"


@pytest.fixture(scope="module")
def told(talk, fact):
    """Ann lives in Leeds, then in York from 1 May; Bob lives in Bath; Ann might live in Rome; two favourites."""
    history = talk(
        {
            "a 2024-01-01": ["Ann: I live in Leeds.", "Bob: I live in Bath.", "Ann: My favourite film is Alien."],
            "b 2024-05-01": ["Ann: I live in York.", "Ann: If I lived in Rome!", "Ann: My favourite dish is stew."],
        }
    )
    first, second = history.sessions

    def lives(id, turn, place, **more):
        return fact(
            id, turn, predicate="lives_in", roles=(Role(name="value", entity=f"place:{place}", words=place),), **more
        )

    def loves(id, turn, value, category):
        roles = (Role(name="value", entity=value, words=value), Role(name="category", entity=category, words=category))
        return fact(id, turn, predicate="favourite", roles=roles)

    may = datetime(2024, 5, 1)
    return [
        lives("leeds", first.turns[0], "Leeds", status="superseded", valid_until=may),
        lives("bath", first.turns[1], "Bath"),
        loves("alien", first.turns[2], "Alien", "film"),
        lives("york", second.turns[0], "York", valid_from=may),
        lives("rome", second.turns[1], "Rome", modality="intent", flags=("hypothetical",)),
        loves("stew", second.turns[2], "stew", "dish"),
    ]


def ids(told, question, people=("Ann",), within=None, at=NOW):
    about = subjects(question, people, {fact.subject for fact in told})
    return [fact.id for fact in answering(told, state_asked(question, at, within), about, at)]


def test_what_holds_at_the_time_asked_about_answers(told):
    april = Interval(start=datetime(2024, 4, 1), end=datetime(2024, 5, 1), grain="month")
    assert ids(told, "Where do I live now?") == ["york"]
    assert ids(told, "Where did I live in April 2024?", within=april) == ["leeds"]
    assert ids(told, "Where did I originally live?") == ["leeds"] == ids(told, "Where did I live before?")
    assert ids(told, "Where do I live?", at=datetime(2024, 2, 1)) == []  # Leeds is known to have ended: see view as of


def test_a_state_of_somebody_else_or_of_another_scope_does_not(told):
    assert ids(told, "Where does Bob live?", people=("Bob",)) == ["bath"]
    assert ids(told, "Where does Cleo live?", people=()) == []
    assert ids(told, "What is my favourite dish?") == ["stew"] and ids(told, "What's my favourite film?") == ["alien"]
    assert ids(told, "What is my favourite colour?") == []

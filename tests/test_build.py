"""Building: every option fits its class, nothing foreign is called, a wrong value is named in one line."""

import copy
import dataclasses
import sys

import pytest

from sodamem import build, config
from sodamem.errors import ConfigError
from sodamem.pipeline import Pipeline


def targets(node, path=""):
    """Every node with a _target_ below a plain config, with its dotted path."""
    if isinstance(node, dict):
        if "_target_" in node:
            yield path, node
        for key, part in node.items():
            yield from targets(part, f"{path}.{key}" if path else key)


def composed():
    """Each option of each group, and each experiment as a whole: (label, plain config). Few composes, many options."""
    known, default = config.options(), config.compose()
    experiments, tunnels = known.pop("experiment"), known.pop("tunnel")
    for number in range(max(map(len, known.values()))):
        row = {group: names[number] for group, names in known.items() if number < len(names)}
        choices = (f"{'' if group in default else '+'}{group}={name}" for group, name in row.items())
        cfg = config.compose(*choices, f"tunnel=[{','.join(tunnels)}]")
        for group, name in row.items():
            yield f"{group}={name}", {group: config.plain(cfg[group])}
    for name in tunnels:
        yield f"tunnel={name}", {name: config.plain(cfg.tunnel[name])}
    for name in experiments:
        cfg = config.compose(f"experiment={name}")
        yield f"experiment={name}", {key: config.plain(cfg[key]) for key in [*known, "tunnel"] if key in cfg}


@pytest.fixture(scope="module")
def base():
    return config.plain(config.compose())


@pytest.fixture(scope="module")
def every_option():
    return list(composed())


def test_the_keys_of_every_option_are_the_fields_of_its_class(every_option):
    """Both ways: a knob that the YAML forgets would need a default in code, one that it invents would be ignored."""
    seen, faults = set(), []
    for label, node in every_option:
        for path, part in targets(node):
            cls = build._resolve(part["_target_"], path, ("sodamem",))
            # The chat is wired: named in YAML, it would be built once for each part that names it.
            fields = {field.name for field in dataclasses.fields(cls) if field.init} - {build.CHAT}
            keys = {key for key in part if not key.startswith("_")} - {build.CHAT}
            fields -= {build.CHAT} - keys  # filled by the wiring
            seen.add((label, path))
            if keys != fields:
                faults.append(
                    f"{label} {path}: only in YAML {sorted(keys - fields)}, only in {cls.__name__} {sorted(fields - keys)}"
                )
    assert not faults, "\n".join(faults)
    assert len(seen) >= 80 and len(every_option) >= 35


def test_every_component_is_frozen_and_keyword_only(every_option):
    classes = {
        build._resolve(part["_target_"], path, ("sodamem",)) for _, node in every_option for path, part in targets(node)
    }
    assert len(classes) >= 25
    for cls in classes:
        assert cls.__dataclass_params__.frozen, cls
        assert all(field.kw_only for field in dataclasses.fields(cls)), cls


def test_every_option_builds(every_option):
    for label, node in every_option:
        for name, part in node.items():
            if isinstance(part, dict) and "_target_" in part:
                assert build.build(part, name) is not None, label


def test_a_whole_pipeline_builds_without_opening_anything(compose, runs):
    built = build.pipeline(compose("experiment=paper"))
    assert isinstance(built, Pipeline) and list(built.tunnels) == ["graph", "bm25", "dense"]
    assert set(built.settings) == {*build.INGEST, "code"}
    assert not runs.exists()


def test_all_parts_that_ask_a_model_are_given_one_chat(compose):
    built = build.pipeline(compose("extractor=llm", "currency=llm", "planner=llm", "reader=llm", "chat=scripted"))
    chats = {id(part.chat) for part in (built.extractor, built.currency, built.planner, built.reader)}
    assert len(chats) == 1
    assert built.settings["chat"] == built.reader.chat.digest and "extract" in built.settings["prompts"]


def test_a_store_of_rules_does_not_depend_on_who_reads_it(compose):
    asked = build.pipeline(compose("planner=llm", "reader=llm", "chat=scripted"))
    assert asked.settings == build.pipeline(compose()).settings


@pytest.mark.parametrize("group", ["extractor", "currency", "planner", "reader"])
def test_a_part_that_needs_a_chat_says_which_there_are(compose, group):
    with pytest.raises(ConfigError, match=rf"{group} needs a chat, got none\. Choose chat= one of .*scripted"):
        build.pipeline(compose(f"{group}=llm"))


def test_replies_are_kept_unless_one_says_no(compose, runs):
    kept, plain = (build.chat_of(compose("chat=scripted", *more)) for more in ((), ("replies=none",)))
    assert str(kept.path).startswith(str(runs)) and kept.digest == plain.digest
    with pytest.raises(ConfigError, match="replies must be one of use, replay, none, got often"):
        build.chat_of(compose("chat=scripted", "replies=often"))


def test_changing_recall_leaves_the_settings_of_the_store_alone(compose):
    one, two = (
        build.pipeline(compose(*more)).settings for more in ((), ("fusion=density", "tunnel=[bm25]", "recall.top_k=3"))
    )
    three = build.pipeline(compose("extractor=turn", "currency=observe", "linker=none")).settings
    assert one == two != three


# --- foreign targets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        "os.system",
        "builtins.eval",
        "subprocess.run",
        "logging.os.system",
        "sodamem.store.sqlite.json.loads",
        "sodamem.run.os.system",
        "sodamem.commands.sys.exit",
        "sodamem.store.sqlite.sqlite3.connect",
        "sodamem.store.sqlite.Path",
        "sodamem.text._SNOWBALL.stemWord",
        "sodamem.build.instantiate",
        "sodamem.run",  # a module
        "sodamem.text.STOP_WORDS",  # no class
        "sodamemory.Fusion",
    ],
)
@pytest.mark.parametrize("trusted", [(), ("logger",)])
def test_a_foreign_target_is_refused(target, trusted):
    with pytest.raises(ConfigError, match=r"fusion\._target_ must be something of sodamem.*trusted_targets") as caught:
        build.build({"_target_": target, "command": "true"}, "fusion", trusted)
    assert "\n" not in str(caught.value) and target in str(caught.value)


@pytest.mark.parametrize(
    "node",
    [
        {"weights": {"bm25": {"_target_": "os.getcwd"}}},
        {"unit": {"_target_": "os.getcwd"}},
        {"extra": [{"deep": {"_target_": "os.getcwd"}}]},
    ],
)
def test_a_foreign_target_is_refused_however_deep_it_lies(base, node):
    with pytest.raises(ConfigError, match=r"fusion\..*_target_ must be something of sodamem, got os\.getcwd"):
        build.build({**base["fusion"], **node}, "fusion")


@pytest.mark.parametrize(
    "target", ["sodamem.fusion.density.NoSuchFusion", "sodamem.no.such.module.X", "sodamem.", "", 5]
)
def test_a_target_that_is_not_there_is_refused_by_name(target):
    with pytest.raises(ConfigError, match=r"fusion\._target_ must ") as caught:
        build.build({"_target_": target}, "fusion")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["_args_", "_partial_", "_recursive_", "_convert_", "_other_"])
def test_hydras_other_directives_are_refused(base, key):
    """_partial_ would give something that is no component; _args_ would go round the check of types."""
    with pytest.raises(ConfigError, match=rf"fusion\.{key} must not be used"):
        build.build({**base["fusion"], key: True}, "fusion")


@pytest.fixture
def outsider(tmp_path, monkeypatch):
    (tmp_path / "outsider").mkdir()
    (tmp_path / "outsider" / "__init__.py").write_text(
        "from dataclasses import dataclass\n"
        "import os\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Planner:\n"
        "    steps: int\n"
        "    def gather(self, question, recall):\n"
        "        return recall(question)[: self.steps]\n"
        "class Plain:\n"
        "    def __init__(self, steps):\n"
        "        self.steps = steps\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "outsider"
    sys.modules.pop("outsider", None)


def test_a_trusted_package_may_be_built_and_checked_like_our_own(compose, outsider):
    overrides = ("planner._target_=outsider.Planner", "+planner.steps=2")
    with pytest.raises(ConfigError, match=r"planner\._target_ must be something of sodamem, got outsider\.Planner"):
        build.pipeline(compose(*overrides))
    assert build.pipeline(compose(*overrides, "trusted_targets=[outsider]")).planner.steps == 2
    with pytest.raises(ConfigError, match=r"planner\.steps must be a whole number, got 'two'"):
        build.pipeline(compose(overrides[0], "+planner.steps=two", "trusted_targets=[outsider]"))
    assert build.build({"_target_": "outsider.Plain", "steps": 3}, "part", ["outsider"]).steps == 3


def test_trust_in_one_package_is_not_trust_in_what_it_imports_or_in_its_namesakes(outsider):
    for target, trusted in (
        ("outsider.os.getcwd", "outsider"),
        ("outsider.Plain", "out"),
        ("outsider.Plain", "outsider.sub"),
    ):
        with pytest.raises(ConfigError, match=r"must be something of sodamem"):
            build.build({"_target_": target}, "planner", [trusted])


# --- values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("fusion.beta", "much", r"fusion\.beta must be a number, got 'much'"),
        ("fusion.beta", True, r"fusion\.beta must be a number, got True"),
        ("fusion.beta", None, r"fusion\.beta must be a number, got None"),
        ("fusion.beta", float("nan"), r"fusion\.beta must be a number, got nan"),
        ("fusion.beta", -1, r"fusion\.beta must be >= 0, got -1"),
        ("fusion.theta", 2, r"fusion\.theta must be above 0 and at most 1, or null"),
        ("fusion.theta", "high", r"fusion\.theta must be a number or null, got 'high'"),
        ("fusion.weights.bm25", "big", r"fusion\.weights must be a mapping to a number"),
        ("fusion.unit", "sesion", r"fusion\.unit must be one of item, turn, got 'sesion'"),
        ("fusion.betta", 1, r"fusion\.betta must be one of .*beta.*Check the spelling"),
        ("tunnel.bm25.k1", -1, r"bm25\.k1 must be >= 0, got -1"),
        ("tunnel.bm25.heads", 1.5, r"tunnel\.bm25\.heads must be a whole number or null, got 1\.5"),
        ("tunnel.bm25.documents.kinds", "turn", r"tunnel\.bm25\.documents\.kinds must be a list of text, got 'turn'"),
        ("tunnel.bm25.documents.kinds", ["turns"], r"documents\.kinds must be some of turn, piece, fact"),
        ("tunnel.bm25.documents.kind", "x", r"tunnel\.bm25\.documents\.kind must be one of context, kinds, scope"),
        ("tunnel.bm25.documents", 3, r"tunnel\.bm25\.documents must be Documents, got 3"),
        ("tunnel.bm25.documents", {"scope": "item"}, r"tunnel\.bm25\.documents must be Documents, got \{"),
        ("store.folder", "", r"store\.folder must name a directory or be null"),
        ("store.frozen", "maybe", r"store\.frozen must be true or false, got 'maybe'"),
        ("recall.top_k", 0, r"recall\.top_k must be >= 1, got 0"),
        ("recall.top_k", "7", r"recall\.top_k must be a whole number, got '7'"),
        ("extractor.max_facts_per_turn", 0, r"extractor\.max_facts_per_turn must be >= 1, got 0"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_its_key(base, key, value, said):
    node = root = copy.deepcopy(base)
    *parents, last = key.split(".")
    for parent in parents:
        node = node[parent]
    node[last] = value
    name = parents[0] if parents[0] != "tunnel" else "tunnel.bm25"
    part = root[parents[0]] if parents[0] != "tunnel" else root["tunnel"]["bm25"]
    with pytest.raises(ConfigError, match=said) as caught:
        build.build(part, name)
    assert "\n" not in str(caught.value)


def test_a_key_that_is_missing_is_named(base):
    node = {key: value for key, value in base["fusion"].items() if key != "beta"}
    with pytest.raises(ConfigError, match=r"fusion cannot be built: .*beta"):
        build.build(node, "fusion")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("tunnel=[]",), r"tunnel must name at least one tunnel, got \[\]\. Choose some with tunnel="),
        (("~reader",), r"reader must be chosen, got none\. Choose an option with reader="),
        (("experiment=paper", "tunnel=[dense]"), r"tunnel\.\w+ must have a _target_, .* or drop ~tunnel\."),
    ],
)
def test_a_part_that_was_not_chosen_is_named(compose, overrides, said):
    with pytest.raises(ConfigError, match=said):
        build.pipeline(compose(*overrides))


def test_a_published_system_can_be_tried_with_fewer_tunnels(compose):
    built = build.pipeline(
        compose("experiment=paper", "tunnel=[dense]", "~tunnel.graph", "~tunnel.bm25", "tunnel.dense.heads=3")
    )
    assert list(built.tunnels) == ["dense"] and built.tunnels["dense"].heads == 3


def test_a_whole_number_may_stand_for_a_number(base):
    assert build.build({**base["fusion"], "beta": 1, "theta": 1}, "fusion").beta == 1


def test_a_class_of_another_stage_is_refused_before_anything_runs():
    node = {"_target_": "sodamem.planner.none.NoPlanner"}
    with pytest.raises(ConfigError, match=r"reader\._target_ must have a method read\(\), got sodamem\.planner"):
        build.build(node, "reader")

"""Composing: faults in one line that names the key, nothing secret in what is saved, no trace left in Hydra."""

import os
from pathlib import Path

import pytest
from hydra import initialize
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from sodamem import build, config
from sodamem.errors import ConfigError


def refusal(*overrides):
    with pytest.raises(ConfigError) as caught:
        config.compose(*overrides)
    assert "\n" not in str(caught.value) and "\t" not in str(caught.value)
    return str(caught.value)


def test_every_experiment_composes():
    names = config.options()["experiment"]
    for name in names:
        cfg = config.compose(f"experiment={name}")
        assert cfg.name == name and config.plain(cfg.tunnel)
    assert len(names) >= 3


def test_every_stage_has_its_group_and_its_place_in_the_map():
    stages = {
        *build.INGEST,
        "dataset",
        "store",
        "encoder",
        "tunnel",
        "fusion",
        "recall",
        "planner",
        "reader",
        "judge",
        "tracker",
    }
    assert stages <= set(config.options()) and stages <= set(config.compose())


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("fusion=densty", ["fusion must be one of density, learned, noisy_or, rrf, weighted_sum", "got 'densty'"]),
        ("tunnel=[bm25,dens]", ["tunnel must be one of bm25", "bm25_session", "graph", "got 'dens'"]),
        ("experiment=papier", ["experiment must be one of", "paper", "got 'papier'"]),
        ("experiment=../x", ["experiment"]),
        ("fussion=density", ["fussion"]),
        ("fusion.betta=1", ["fusion.betta"]),
        ("fusion.weights.bm26=1", ["bm26"]),
        ("recall.top=5", ["recall.top"]),
        ("fusion=", ["fusion"]),
        ("fusion=null", ["fusion must be one of density", "got null"]),
        ("=x", ["=x"]),
        ("fusion.beta=[1", ["fusion.beta=[1", "Quote"]),
        ("name=jalapeño", ["name=jalapeño", "Quote"]),
        ("~nonsense", ["nonsense"]),
        ("dataset.path=${oc.env:NO_SUCH_VARIABLE_4711}/x", ["NO_SUCH_VARIABLE_4711"]),
    ],
)
def test_a_fault_is_one_line_that_names_the_key_and_the_options(override, said):
    def attempt():
        cfg = config.compose(override)
        config.plain(cfg.dataset)

    with pytest.raises(ConfigError) as caught:
        attempt()
    message = str(caught.value)
    assert "\n" not in message
    assert not [word for word in said if word not in message], message


@pytest.mark.parametrize(
    ("override", "value"),
    [
        (r"name='a b, c=d'", "a b, c=d"),
        (r'name="it\'s"', "it\\'s"),
        ("name='jalapeño'", "jalapeño"),
        ("name=", ""),
        ("name='${not_resolved'", None),
        ("name=2024-05-01", "2024-05-01"),
        ("name='5'", "5"),
    ],
)
def test_values_with_special_signs_arrive_as_they_were_written(override, value):
    if value is None:
        assert "${not_resolved" in refusal(override)
        return
    assert config.compose(override).name == value


def test_runs_are_absolute_wherever_the_command_is_given(monkeypatch, tmp_path):
    monkeypatch.setenv("SODAMEM_RUNS", "here/and there")
    monkeypatch.chdir(tmp_path)
    assert config.compose().runs == str(tmp_path / "here/and there")
    assert config.compose("runs='~/x'").runs == str(Path("~/x").expanduser())


def test_composing_does_not_disturb_a_hydra_that_is_already_in_use(tmp_path):
    (tmp_path / "mine.yaml").write_text("a: 1\n")
    with initialize(version_base="1.3", config_path=os.path.relpath(tmp_path, Path(__file__).parent)):
        before = GlobalHydra.instance().hydra
        config.compose("fusion=density")
        assert GlobalHydra.instance().hydra is before
    assert not GlobalHydra.instance().is_initialized()


def test_a_fault_leaves_no_hydra_behind():
    refusal("fusion=densty")
    assert not GlobalHydra.instance().is_initialized()


def test_no_secret_of_the_environment_is_in_what_is_saved(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "SODAMEM_MODELS"):
        monkeypatch.setenv(name, f"https://user:CANARY@host/{name}")
    saved = "".join(config.unresolved(config.compose(f"encoder={name}")) for name in config.options()["encoder"])
    assert "CANARY" not in saved and "OPENAI_API_KEY" in saved and "${oc.env:OPENAI_BASE_URL" in saved


def test_what_was_saved_composes_to_the_same_again():
    cfg = config.compose("experiment=paper", "fusion.beta=0.25")
    again = OmegaConf.create(config.unresolved(cfg))
    assert config.plain(again) == config.plain(cfg) and again.fusion.beta == 0.25


def test_flat_keeps_lists_and_empty_tables_as_values():
    assert config.flat({"a": {"b": {"c": 1}, "d": {}}, "e": [1, {"f": 2}]}) == {
        "a.b.c": 1,
        "a.d": {},
        "e": [1, {"f": 2}],
    }

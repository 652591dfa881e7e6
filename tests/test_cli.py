"""The command line: what each command prints, and that a fault of the user's is one line and exit code 2."""

import json

import pytest
from omegaconf import OmegaConf

from sodamem import commands, config
from sodamem.cli import main
from sodamem.errors import ConfigError, SodamemError

COMMANDS = ("run", "ask", "check", "show", "options", "resolve", "facts")
SAID = {
    "id": "mine",
    "sessions": [
        {
            "id": "s1",
            "time": "2024-01-05T10:00",
            "turns": [
                {"role": "user", "text": "I live in Bergen."},
                {"role": "assistant", "text": "How is it there?"},
                {"role": "user", "text": "I adopted a puppy named Biscuit last Friday."},
            ],
        },
        {"id": "s2", "time": "2024-03-05T10:00", "turns": [{"role": "user", "text": "I moved to Oslo."}]},
    ],
}
AT = ("--at", "2024-05-01T10:00")


@pytest.fixture
def chat(tmp_path, runs):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(SAID))
    return str(path)


@pytest.fixture
def cli(capsys):
    """cli("ask", …) -> (exit code, stdout, stderr)"""

    def call(*argv):
        code = main(argv)
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def refused(cli):
    """refused("ask", …) -> the one line of the refusal"""

    def call(*argv):
        code, out, err = cli(*argv)
        assert code == 2 and out == ""
        assert err.startswith("sodamem: ") and err.endswith("\n") and err.count("\n") == 1, err
        return err

    return call


# --- help ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["-h", "--help", "help"])
def test_help_names_every_command(cli, flag):
    code, out, _ = cli(flag)
    assert code == 0 and not [name for name in COMMANDS if f"\n  {name}" not in out]


def test_no_command_prints_the_help_and_is_a_fault(cli):
    code, out, _ = cli()
    assert code == 2 and out.startswith("usage: sodamem")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help(name, capsys):
    with pytest.raises(SystemExit) as left:
        main([name, "--help"])
    assert left.value.code == 0 and f"sodamem {name}" in capsys.readouterr().out


def test_the_version_is_one_line(cli):
    code, out, _ = cli("--version")
    assert code == 0 and out.startswith("sodamem ") and out.count("\n") == 1


def test_an_unknown_command_names_the_known_ones(refused):
    said = refused("rum")
    assert "'rum'" in said and all(name in said for name in COMMANDS)


# --- faults -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("ask", "--history", "{chat}", *AT), "question"),
        (("ask", "--history", "{chat}", *AT, ""), "question must have words"),
        (("ask", "--history", "{chat}", *AT, " \n"), "question must have words"),
        (("ask", "--history", "{chat}", "--at", "yesterday", "Where?"), "--at must be an ISO time"),
        (("ask", "--history", "{chat}", "--at", "", "Where?"), "--at must be an ISO time"),
        (("ask", "--history", "{chat}", "Where?"), "--at"),
        (("ask", "--history", "nowhere.json", *AT, "Where?"), "nowhere.json"),
        (("ask", "--history", "{dir}", *AT, "Where?"), "must name a readable file"),
        (("ask", "--history", "{cut}", *AT, "Where?"), "must be valid JSON"),
        (("ask", "--history", "{chat}", *AT, "Where?", "fusion=densty"), "fusion must be one of"),
        (("ask", "--history", "{chat}", *AT, "Where?", "fusion.beta=x"), "fusion.beta must be a number"),
        (("ask", "--history", "{chat}", *AT, "Where?", "and", "why"), "and"),
        (("ask", "--history", "{chat}", *AT, "Where?", "runs={file}/runs"), "must be writable"),
        (("facts", "--history", "{cut}"), "must be valid JSON"),
        (("facts", "--history", "{chat}", "--as-of", "soon"), "--as-of must be an ISO time"),
        (("resolve", "--at", "now", "today"), "--at must be an ISO time"),
        (("resolve", "--at", "2024-01-01", " "), "text must have words"),
        (("resolve", "--at", "2024-01-01"), "text"),
        (("show", "fusion"), "fusion must be one of density"),
        (("show", "fussion=x"), "group must be one of"),
        (("show", "fusion=densty"), "fusion must be one of density"),
        (("show",), "GROUP=OPTION"),
        (("options", "fusion"), "fusion"),
        (("check", "fusion.betta=1", "--fast"), "--fast"),
        (("run", "fusion=densty"), "fusion must be one of"),
        (("run", "tracker=none", "runs={file}/runs"), "runs must be a directory that can be written"),
        (("run", "-m", "fusion=density,densty"), "fusion must be one of"),
        (("run", "-m", "fusion.beta=[1"), "grammar"),
        (("run", "dataset=locomo", "dataset.path={cut}", "tracker=none"), "must be valid JSON"),
        (("run", "--fast"), "--fast"),
    ],
)
def test_a_fault_is_one_line_and_exit_code_2(refused, chat, tmp_path, runs, argv, said):
    (tmp_path / "file").write_text("")
    (tmp_path / "cut.json").write_text(json.dumps(SAID)[:100])
    places = {"chat": chat, "dir": tmp_path, "cut": tmp_path / "cut.json", "file": tmp_path / "file"}
    message = refused(*(part.format(**places) if "{" in part else part for part in argv))
    assert said in message
    assert not runs.exists() or not [entry for entry in runs.iterdir() if entry.name not in ("stores", "cache")]


def test_a_traceback_is_shown_to_those_who_ask_for_it(monkeypatch):
    monkeypatch.setenv("SODAMEM_DEBUG", "1")
    with pytest.raises(ConfigError, match="command must be one of"):
        main(["rum"])


def test_an_interrupt_says_so(cli, monkeypatch):
    def interrupt(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "options", interrupt)
    assert cli("options") == (130, "", "sodamem: interrupted; what was committed to the stores is kept\n")


# --- looking around -----------------------------------------------------------------------------------------


def test_options_lists_every_group(cli):
    code, out, _ = cli("options")
    assert code == 0
    listed = dict(line.split(None, 1) for line in out.splitlines())
    assert listed == {group: ", ".join(names) for group, names in config.options().items()}


def first_of_each():
    return [f"{group}={names[0]}" for group, names in config.options().items()]


def every_option():
    return [f"{group}={name}" for group, names in config.options().items() for name in names]


def shown(cli, choice):
    code, out, err = cli("show", choice)
    assert (code, err) == (0, ""), choice
    if not choice.startswith("experiment="):
        assert "_target_: sodamem." in out and "\nclass  sodamem." in out and "\nfile   " in out, choice
    return out


@pytest.mark.parametrize("choice", first_of_each())
def test_show_explains_one_option_of_each_group(cli, choice):
    shown(cli, choice)


@pytest.mark.slow
@pytest.mark.parametrize("choice", every_option())
def test_show_explains_every_option(cli, choice):
    shown(cli, choice)


def test_show_prints_the_formula_and_where_it_is(cli):
    out = shown(cli, "fusion=density")
    assert "beta: 0.3" in out and "sodamem/fusion/density.py" in out and "density(i) = Σ_h w_h" in out


def test_check_counts_what_builds_and_names_what_does_not(cli, monkeypatch):
    monkeypatch.setattr(config, "options", lambda: {"fusion": ["density", "rrf"], "planner": ["none"]})
    code, out, err = cli("check")
    assert code == 0 and out.startswith("3 options of 2 groups build") and err == ""
    code, out, err = cli("check", "fusion.beta=-1")
    assert code == 1 and out.startswith("1 options of 2 groups build")
    assert err.splitlines() == [
        f"sodamem: fusion={name}: fusion.beta must be >= 0, got -1" for name in ("density", "rrf")
    ]


@pytest.mark.slow
def test_every_option_of_the_package_builds(cli):
    code, out, err = cli("check")
    assert (code, err) == (0, "") and out.startswith(f"{len(every_option())} options of {len(config.options())} groups")


# --- asking -------------------------------------------------------------------------------------------------


def test_a_question_is_answered_with_its_evidence(cli, chat):
    code, out, err = cli("ask", "--history", chat, *AT, "What is the name of my puppy?")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "Biscuit" in lines[0] and lines[1].startswith("  cites s1:2: “")
    assert any(line.startswith("  1. ") and "bm25" in line for line in lines)


def test_an_answer_in_json_is_one_object(cli, chat):
    code, out, _ = cli("ask", "--history", chat, *AT, "What is the name of my puppy?", "fusion=density", "--json")
    answer = json.loads(out)
    assert code == 0 and set(answer) == {"question", "asked_at", "answer", "evidence"}
    assert answer["asked_at"] == "2024-05-01T10:00:00" and answer["answer"]["citations"]
    assert answer["evidence"][0]["rank"] == 1 and answer["evidence"][0]["awards"]


def test_the_same_question_has_the_same_answer(cli, chat):
    argv = ("ask", "--history", chat, *AT, "Where do I live?", "--json")
    assert cli(*argv) == cli(*argv)


def test_facts_show_their_words_and_what_is_no_longer_true(cli, chat):
    code, out, _ = cli("facts", "--history", chat)
    assert code == 0 and "s1:0 “I live in Bergen.”" in out.replace("Bergen”", "Bergen.”")
    assert "superseded" in out and "SUPERSEDES" in out
    code, out, _ = cli("facts", "--history", chat, "--json")
    facts = {fact["spans"][0]["turn_id"]: fact for fact in json.loads(out)["facts"]}
    assert facts["s1:0"]["status"] == "superseded" and facts["s1:0"]["valid_until"].startswith("2024-03-05")
    assert facts["s2:0"]["status"] == "active"
    for fact in facts.values():
        for span in fact["spans"]:
            turns = {f"{s['id']}:{n}": t["text"] for s in SAID["sessions"] for n, t in enumerate(s["turns"])}
            assert turns[span["turn_id"]][span["start"] : span["end"]] == span["text"]


def test_facts_of_an_earlier_moment_do_not_know_the_later_ones(cli, chat):
    _, out, _ = cli("facts", "--history", chat, "--as-of", "2024-02-01", "--json")
    turns = {fact["spans"][0]["turn_id"] for fact in json.loads(out)["facts"]}
    assert "s1:0" in turns and "s2:0" not in turns


def test_times_are_resolved_against_the_given_moment(cli):
    code, out, _ = cli("resolve", "--at", "2024-05-01", "I ran last Friday, honest")
    assert code == 0 and out.startswith("'last Friday' [6:17]  2024-04-26 00:00 .. 2024-04-27 00:00 (day)")
    code, out, _ = cli("resolve", "--at", "2024-05-01", "I ran last Friday", "--json")
    (value,) = json.loads(out)
    assert value["words"] == "last Friday" and value["interval"]["start"] == "2024-04-26T00:00:00"
    assert cli("resolve", "--at", "2024-05-01", "I ran")[1] == "no time expression\n"
    assert json.loads(cli("resolve", "--at", "2024-05-01", "I ran", "--json")[1]) == []


# --- running ------------------------------------------------------------------------------------------------


def folders(runs):
    return sorted(entry for entry in runs.iterdir() if (entry / "metrics.json").exists())


def test_run_prints_its_table_and_ends_with_its_folder(cli, runs, tiny):
    code, out, err = cli("run", *tiny)
    (folder,) = folders(runs)
    assert code == 0 and out.splitlines()[-1] == f"run: {folder}" and "recall@10" in out
    assert err.startswith(f"runs in {runs}\n")


def test_the_composed_configuration_can_be_read_without_running(cli, runs):
    code, out, _ = cli("run", "--cfg", "fusion=density", "fusion.beta=0.2")
    assert code == 0 and "beta: 0.2" in out and not runs.exists()


def test_a_multirun_runs_every_combination(cli, runs, tiny):
    code, out, err = cli("run", "-m", "-q", "fusion.beta=0,0.3", "fusion=density", *tiny)
    assert code == 0, err
    assert len(folders(runs)) == 2 and out.count("\nrun: ") == 2
    assert {OmegaConf.load(folder / "config.yaml").fusion.beta for folder in folders(runs)} == {0, 0.3}


def test_a_job_that_fails_is_one_line_and_the_others_go_on(cli, runs, tiny):
    code, _, err = cli("run", "-m", "-q", "fusion.beta=-1,0.3", *tiny)
    assert code == 1 and len(folders(runs)) == 1
    faults = [line for line in err.splitlines() if line.startswith("sodamem: ")]
    assert len(faults) == 2 and "fusion.beta must be >= 0, got -1" in faults[0] and "1 of the jobs failed" in faults[1]
    assert "Traceback" not in err


def test_a_sweep_over_options_may_set_what_only_those_options_have(cli, runs, tiny):
    code, _, err = cli("run", "-m", "-q", "fusion=rrf", "fusion.k=1,60", *tiny)
    assert code == 0 and len(folders(runs)) == 2, err


def test_a_fault_that_is_not_the_users_is_not_hidden(monkeypatch, runs):
    def broken(arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(commands, "options", broken)
    with pytest.raises(ZeroDivisionError):
        main(["options"])
    assert not issubclass(ZeroDivisionError, SodamemError)

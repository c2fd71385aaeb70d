"""Manners of every command: one JSON object, silence when asked for, no colours in pipes, a clean Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
import yaml

from chunk_assets.cli import COMMANDS, chunk_assets
from tests.doors.conftest import Called, call, call_elsewhere, make_home, note

QUESTIONS = [
    {
        "id": "1",
        "query": "Who signs the steps?",
        "gold_snippets": ["The person on duty signs it before noon."],
    },
    {
        "id": "2",
        "query": "What does part 2 cover?",
        "gold_snippets": ["part 2 covers intake, storage and release."],
    },
]
EVALUATED = ("--set", "{set}", "--embedder", "static")
# Of each command that takes a home: arguments with which it ends, and the exit code then.
ENDS: dict[str, tuple[tuple[str, ...], int]] = {
    "run": (("run",), 0),
    "plan": (("plan", "--diff"), 0),
    "status": (("status",), 0),
    "files": (("files", "chunks"), 0),
    "sources": (("sources", "--documents"), 0),
    "preview": (("preview", "{home}/notes/grain.md"), 0),
    "convert": (("convert", "{home}/notes", "--jsonl", "{tmp}/out.jsonl"), 0),
    "search": (("search", "grain"), 0),
    "report": (("report", "notes"), 0),
    "verify": (("verify",), 0),
    "repair": (("repair",), 0),
    "evaluate": (("evaluate", *EVALUATED, "--strategy", "section"), 0),
    "calibrate": (("calibrate", *EVALUATED, "--strategy", "recursive"), 0),
    "export": (("export", "--to", "parquet", "--target", "{tmp}/store"), 0),
    "backfill": (("backfill", "--source", "notes", "--only", "missing"), 0),
    "versions": (("versions", "list"), 0),
    "prune": (("prune", "--dry-run"), 0),
    "alerts": (("alerts", "list"), 0),
    "alerts test": (("alerts", "test"), 1),
    "versions create": (("versions", "create", "{fresh}"), 0),
    "versions drop": (("versions", "drop", "{made}"), 0),
    "doctor": (("doctor",), 0),
    "init": (("init", "{tmp}/{fresh}"), 0),
}
ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose tables are published, and a set of two questions beside it."""
    folder = tmp_path_factory.mktemp("manners")
    home = make_home(folder / "home")
    (folder / "set").mkdir()
    (folder / "set/grain.md").write_text(note("grain"))
    (folder / "set/questions.yaml").write_text(yaml.safe_dump({"questions": QUESTIONS}))
    assert call("run", "--home", str(home), "--quiet") == Called(0, "", "")
    return home


def ask(home: Path, name: str, *more: str) -> Called:
    """Calls a command on the filled home; ``more`` distinguishes one call from another."""
    arguments, _ = ENDS[name]
    fresh = "v" + "".join(part.strip("-") for part in more)
    if "{made}" in arguments:
        call("versions", "create", fresh, "--home", str(home), "--quiet")
    names = {"home": home, "tmp": home.parent, "set": home.parent / "set", "fresh": fresh, "made": fresh}
    return call(*(part.format(**names) for part in arguments), "--home", str(home), *more)


def test_every_command_but_the_server_is_asked_here() -> None:
    assert set(COMMANDS) - {"dev"} == {arguments[0] for arguments, _ in ENDS.values()}


@pytest.mark.parametrize("name", ENDS)
def test_json_is_one_object_and_nothing_else_on_standard_output(filled: Path, name: str) -> None:
    called = ask(filled, name, "--json")
    if name != "doctor":  # this machine may lack what a doctor looks for
        assert called.code == ENDS[name][1], called.err
    assert called.out.count("\n") == 1
    assert isinstance(json.loads(called.out), dict)


@pytest.mark.parametrize("name", ENDS)
def test_quiet_prints_nothing_when_all_is_well(filled: Path, name: str) -> None:
    called = ask(filled, name, "--quiet")
    assert called.out == ""
    if called.code == 0:
        assert called.err == ""


@pytest.mark.parametrize("name", ENDS)
def test_people_get_words_and_pipes_no_colours(filled: Path, name: str) -> None:
    called = ask(filled, name)
    assert called.out + called.err
    assert ESCAPE not in called.out + called.err
    assert not called.out.lstrip().startswith("{")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_it_does_and_what_each_option_is(name: str) -> None:
    command = chunk_assets.get_command(click.Context(chunk_assets), name)
    assert command is not None
    commands = [command, *(command.commands.values() if isinstance(command, click.Group) else [])]
    for one in commands:
        assert one.help, one.name
        assert len(one.get_short_help_str(200)) > 10
        lacking = [p.name for p in one.params if isinstance(p, click.Option) and not p.help]
        assert lacking == []
        options = {o for p in one.params for o in p.opts}
        assert isinstance(one, click.Group) or {"--home", "--json", "--quiet"} <= options
    assert call(name, "--help").out.startswith(f"Usage: chunk-assets {name}")
    assert call(name, "-h").out == call(name, "--help").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rum",), "No such command 'rum'"),
        (("run", "--worker"), "--workers"),
        (("search",), "Missing argument 'QUESTION'"),
        (("run", "--batch", "notes"), "SOURCE/SLICE"),
        (("run", "--source", "nowhere"), "known: filings, notes"),
        (("search", "x", "--mode", "magic"), "'hybrid', 'dense', 'bm25'"),
        (("export", "--to", "magic", "--target", "x"), "known: duckdb"),
        (("preview", "nothing.md"), "does not exist"),
        (("report", "nothing"), "batches: "),
        (("versions", "promote", "nothing"), "nothing"),
    ],
)
def test_a_wrong_call_is_one_sentence_with_exit_code_two(
    filled: Path, arguments: tuple[str, ...], said: str
) -> None:
    called = call(*arguments, *([] if arguments == ("rum",) else ["--home", str(filled)]))
    assert (called.code, called.out) == (2, "")
    assert said in called.err
    assert "Traceback" not in called.err


def test_a_home_without_a_catalog_says_what_to_do(tmp_path: Path) -> None:
    called = call("run", "--home", str(tmp_path))
    assert called.code == 2
    assert "sources.yaml" in called.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_a_shell_is_printed_as_the_docs_say(root: Path, shell: str) -> None:
    variable = f"_CHUNK_ASSETS_COMPLETE={shell}_source"
    assert variable in root.joinpath("docs/faq.md").read_text()
    name, value = variable.split("=")
    script = Path(sys.executable).with_name("chunk-assets")
    done = subprocess.run(
        [str(script)], env={**os.environ, name: value}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "chunk-assets" in done.stdout
    assert f"{shell}_complete" in done.stdout


def test_completion_knows_commands_and_options() -> None:
    script = Path(sys.executable).with_name("chunk-assets")
    for words, at, wanted in (
        ("chunk-assets ve", "1", "verify"),
        ("chunk-assets run --re", "2", "--retry-failed"),
    ):
        environment = {
            **os.environ,
            "_CHUNK_ASSETS_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": at,
        }
        done = subprocess.run([str(script)], env=environment, capture_output=True, text=True, check=False)
        assert f"plain,{wanted}" in done.stdout.splitlines(), done.stdout + done.stderr


def test_a_closed_pipe_is_no_error(filled: Path) -> None:
    command = (
        f'"{sys.executable}" -m chunk_assets preview "{filled}/notes/grain.md" --home "{filled}" | head -n 1'
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.slow
def test_ctrl_c_ends_with_130_and_the_same_command_goes_on(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", "bge_small")
    for number in range(12):
        (home / f"notes/more{number}.md").write_text(note(f"subject {number}", 6))
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "chunk_assets",
        "run",
        "--home",
        str(home),
        "--workers",
        "1",
    ]
    # A session of its own gets the signal as a terminal gives it: to the command and to all its workers.
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not any((home / "vectors").rglob("*")) and time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "goes on from there" in err
    assert "Traceback" not in out + err
    assert not re.search(r"^Done", out, re.MULTILINE)
    again = call_elsewhere("run", "--home", str(home), "--json", "--workers", "1")
    assert again.code == 0, again.err
    assert again.json["documents"] == {"ok": 20}
    assert call("verify", "--home", str(home)).code == 0

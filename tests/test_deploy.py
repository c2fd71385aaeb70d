"""Deployment files refer to what is there: commands, modules, files, and names in the environment."""

from __future__ import annotations

import configparser
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from chunk_assets.defs.arrivals import BATCH_TAG
from chunk_assets.defs.home import SETTINGS

NAMES = re.compile(r"CHUNK_ASSETS_[A-Z_]+|CHUNKING_FACTORY_[A-Z_]+")
# Read by the files themselves: where the home is on the host, and where Celery's broker is.
OF_FILES = {"CHUNK_ASSETS_DATA", "CHUNK_ASSETS_CELERY_BROKER"}
COMMANDS = {
    "dagster code-server start": ("-h", "-p", "-m"),
    "dagster api grpc": ("-m",),
    "dagster api grpc-health-check": ("-p",),
    "dagster-webserver": ("-h", "-p", "-w", "-m", "--read-only"),
    "dagster-daemon run": ("-w", "-m"),
}


@pytest.fixture(scope="module")
def deploy(root: Path) -> Path:
    return root / "deploy"


def compose(deploy: Path) -> dict[str, Any]:
    return dict(yaml.safe_load((deploy / "docker-compose.yaml").read_text()))


def commands(deploy: Path) -> list[list[str]]:
    """Every command line that a file of the folder gives to a container or service."""
    found = [shlex.split(s["command"]) for s in compose(deploy)["services"].values() if "command" in s]
    found.append(compose(deploy)["services"]["code"]["healthcheck"]["test"][1:])
    found += [
        yaml.safe_load(line.removeprefix("CMD "))
        for line in (deploy / "Dockerfile").read_text().splitlines()
        if line.startswith("CMD ")
    ]
    for unit in sorted((deploy / "systemd").glob("*.service")):
        found.append(shlex.split(service(unit)["ExecStart"]))
    values = yaml.safe_load((deploy / "helm/values.yaml").read_text())
    for deployment in values["dagster-user-deployments"]["deployments"]:
        found.append(["dagster", "api", "grpc", *deployment["dagsterApiGrpcArgs"]])
    return found


def service(unit: Path) -> dict[str, str]:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names of systemd keep their case
    parser.read_string(unit.read_text())
    return dict(parser["Service"])


def test_every_yaml_file_parses(deploy: Path) -> None:
    files = sorted(deploy.rglob("*.yaml"))
    assert len(files) >= 4
    for file in files:
        assert isinstance(yaml.safe_load(file.read_text()), dict), file


def test_every_command_is_one_of_those_that_are_installed(deploy: Path) -> None:
    for command in commands(deploy):
        words = [Path(command[0]).name, *command[1:]]
        known = next((name for name in COMMANDS if words[: len(name.split())] == name.split()), None)
        assert known, words
        assert (Path(sys.executable).parent / words[0]).exists()
        assert {word for word in words if word.startswith("-")} <= set(COMMANDS[known])
        if "-m" in words:
            assert importlib.util.find_spec(words[words.index("-m") + 1]) is not None


@pytest.mark.parametrize("name", ["dagster code-server start", "dagster api grpc-health-check"])
def test_the_options_are_those_of_the_installed_version(name: str) -> None:
    words = name.split()
    shown = subprocess.run(
        [Path(sys.executable).parent / words[0], *words[1:], "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert all(f" {option}," in shown or f"{option} " in shown for option in COMMANDS[name])


def test_every_name_in_the_environment_is_read_by_the_code(root: Path, deploy: Path) -> None:
    code = {
        name for file in (root / "chunk_assets").rglob("*.py") for name in NAMES.findall(file.read_text())
    }
    used = {
        (file.name, name)
        for file in deploy.rglob("*")
        if file.is_file()
        for name in NAMES.findall(file.read_text())
    }
    assert {(file, name) for file, name in used if name not in code | OF_FILES} == set()


def test_what_files_copy_and_mount_is_there(root: Path, deploy: Path) -> None:
    copied = re.findall(r"^COPY (?!--from)(.+)$", (deploy / "Dockerfile").read_text(), re.MULTILINE)
    for line in copied:
        for name in [word for word in line.split() if not word.startswith("--")][:-1]:
            assert (root / name).exists(), name
    services = compose(deploy)["services"]
    mounted = {v.split(":")[0] for s in services.values() for v in s.get("volumes", ())}
    for name in mounted:
        if name.startswith("./"):
            assert (deploy / name).exists(), name
    build = services["code"]["build"]
    assert (deploy / build["context"] / build["dockerfile"]).exists()


def test_the_pages_are_reachable_from_this_machine_only(deploy: Path) -> None:
    published = [p for s in compose(deploy)["services"].values() for p in s.get("ports", ())]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
    assert "-h 127.0.0.1" in service(deploy / "systemd/chunk-assets-webserver.service")["ExecStart"]


def test_the_code_server_is_where_the_workspace_looks_for_it(deploy: Path) -> None:
    server = yaml.safe_load((deploy / "workspace.grpc.yaml").read_text())["load_from"][0]["grpc_server"]
    command = shlex.split(compose(deploy)["services"][server["host"]]["command"])
    assert command[command.index("-p") + 1] == str(server["port"])


def test_kubernetes_runs_one_batch_at_a_time_as_a_home_does_by_itself(deploy: Path) -> None:
    values = yaml.safe_load((deploy / "helm/values.yaml").read_text())
    queue = values["dagsterDaemon"]["runCoordinator"]["config"]["queuedRunCoordinator"]
    own = yaml.safe_load(SETTINGS.read_text())["concurrency"]["runs"]
    assert queue["tagConcurrencyLimits"] == own["tag_concurrency_limits"]
    assert queue["tagConcurrencyLimits"][0]["key"] == BATCH_TAG
    claim = yaml.safe_load((deploy / "helm/home-claim.yaml").read_text())
    (deployment,) = values["dagster-user-deployments"]["deployments"]
    assert deployment["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    home = next(e["value"] for e in deployment["env"] if e["name"] == "CHUNK_ASSETS_HOME")
    assert home == deployment["volumeMounts"][0]["mountPath"]
    assert deployment["includeConfigInLaunchedRuns"]["enabled"]


def test_the_entry_point_prepares_the_home_and_runs_the_command(deploy: Path, tmp_path: Path) -> None:
    python = Path(sys.executable).parent
    ran = subprocess.run(
        ["sh", str(deploy / "entrypoint.sh"), "echo", "hello there"],
        env=os.environ | {"CHUNK_ASSETS_HOME": str(tmp_path), "PATH": f"{python}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "hello there\n"
    assert (tmp_path / "dagster/dagster.yaml").read_text() == SETTINGS.read_text()


def test_the_entry_point_gives_a_home_at_a_url_a_folder_of_the_container(
    deploy: Path, tmp_path: Path
) -> None:
    python = Path(sys.executable).parent
    environment = {"CHUNK_ASSETS_HOME": "s3://bucket/home", "CHUNK_ASSETS_CACHE": str(tmp_path / "cache")}
    ran = subprocess.run(
        ["sh", str(deploy / "entrypoint.sh"), "sh", "-c", "echo $DAGSTER_HOME"],
        env=os.environ | environment | {"PATH": f"{python}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    folder = Path(ran.stdout.strip())
    assert folder.is_relative_to(tmp_path / "cache")
    assert (folder / "dagster.yaml").read_text() == SETTINGS.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_secrets_are_not_in_the_files(deploy: Path) -> None:
    text = "\n".join(file.read_text() for file in deploy.rglob("*") if file.is_file())
    assert re.findall(r"(?i)(?:password|secret_access_key|token):[ \t]+(?!\$\{)\S+", text) == []


def tool(name: str) -> str:
    """A tool of the environment; it comes with the development requirements."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        pytest.skip(f"{name} is not installed")
    return str(path)


def test_compose_takes_its_file_and_asks_for_the_password(deploy: Path) -> None:
    command = [tool("docker-compose"), "-f", str(deploy / "docker-compose.yaml"), "config", "--quiet"]
    without = {name: value for name, value in os.environ.items() if name != "POSTGRES_PASSWORD"}
    asked = subprocess.run(command, env=without, capture_output=True, text=True, check=False)
    assert asked.returncode != 0
    assert "set a password" in asked.stderr
    with_it = without | {"POSTGRES_PASSWORD": "of-the-test"}
    taken = subprocess.run(command, env=with_it, capture_output=True, text=True, check=False)
    assert (taken.returncode, taken.stderr) == (0, "")


def test_hadolint_finds_nothing_in_the_dockerfile(deploy: Path) -> None:
    command = [tool("hadolint"), "--no-color", str(deploy / "Dockerfile")]
    linted = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (linted.stdout, linted.returncode) == ("", 0)


def test_the_settings_of_celery_are_taken_by_its_launcher(
    deploy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dagster_celery")
    from dagster import DagsterInstance

    monkeypatch.setenv("CHUNK_ASSETS_CELERY_BROKER", "redis://127.0.0.1:6379/0")
    (tmp_path / "dagster.yaml").write_text((deploy / "celery/dagster.yaml").read_text())
    with DagsterInstance.from_config(str(tmp_path)) as instance:
        assert type(instance.run_launcher).__name__ == "CeleryRunLauncher"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_accepts_its_units(deploy: Path) -> None:
    units = [str(unit) for unit in sorted((deploy / "systemd").glob("*.service"))]
    checked = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    told = [line for line in checked.stderr.splitlines() if "Unknown" in line or "Invalid" in line]
    assert told == []

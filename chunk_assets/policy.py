"""Policies: ordered rules from what is known of a document to the strategy that cuts it.

A policy is data. The first rule whose conditions all hold decides; three decisions are built in
(``docs/adr``: sentence window, hybrid, tiered), and ``auto``, which takes the best of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from chunk_assets import errors, hashing
from chunk_assets.chunking import ChunkingStrategy, strategy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chunk_assets.records import DocumentMetadata

# Documents with one of these tags are worth the dearer strategy.
HIGH_VALUE_TAGS = ("compliance", "contract", "legal", "medical")
TABULAR = ("csv", "tsv", "xls", "xlsb", "xlsm", "xlsx", "ods")

_CONDITIONS = ("tags", "file_type", "document_type", "has_headings", "has_clean_paragraphs")
_RULE_KEYS = ("when", "strategy", "parameters")


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions, all of which must hold, and the strategy then. An empty condition always holds.

    ``tags``: the document has at least one of them. Names are compared without regard to case.
    """

    strategy: ChunkingStrategy
    tags: tuple[str, ...] = ()
    file_type: tuple[str, ...] = ()
    document_type: tuple[str, ...] = ()
    has_headings: bool | None = None
    has_clean_paragraphs: bool | None = None

    def holds(self, meta: DocumentMetadata) -> bool:
        """Whether the rule is for this document."""
        facts = (
            (self.tags, meta.tags),
            (self.file_type, (meta.file_type,)),
            (self.document_type, (meta.document_type or "",)),
        )
        return (
            all(not wanted or _common(wanted, found) for wanted, found in facts)
            and self.has_headings in {None, meta.has_headings}
            and self.has_clean_paragraphs in {None, meta.has_clean_paragraphs}
        )


def _common(wanted: Sequence[str], found: Sequence[str]) -> bool:
    names = {name.casefold() for name in found}
    return any(name.casefold() in names for name in wanted)


@dataclass(frozen=True, slots=True)
class Policy:
    """Ordered rules; the last one has no conditions, so there is an answer for every document."""

    name: str
    rules: tuple[Rule, ...]

    @property
    def fingerprint(self) -> str:
        """Changes whenever the policy can decide differently."""
        return hashing.fingerprint({"rules": [_as_data(rule) for rule in self.rules]})

    def choose(self, meta: DocumentMetadata) -> ChunkingStrategy:
        """The strategy of the first rule that holds."""
        return next(rule.strategy for rule in self.rules if rule.holds(meta))


def _as_data(rule: Rule) -> dict[str, Any]:
    conditions = {key: getattr(rule, key) for key in _CONDITIONS}
    return {**conditions, "strategy": rule.strategy.fingerprint}


_SENTENCE_WINDOW = strategy("sentence_window")
_RECURSIVE = strategy("recursive")

BUILT_IN: Mapping[str, Policy] = MappingProxyType(
    {
        policy.name: policy
        for policy in (
            Policy("sentence_window", (Rule(_SENTENCE_WINDOW),)),
            Policy(
                "hybrid",
                (
                    Rule(strategy("row"), file_type=TABULAR),
                    Rule(strategy("section"), file_type=("html", "markdown"), has_headings=True),
                    Rule(strategy("semantic", {"overlap_sentences": 1})),
                ),
            ),
            Policy(
                "tiered",
                (
                    Rule(strategy("semantic", {"threshold": 0.75}), tags=HIGH_VALUE_TAGS),
                    Rule(strategy("paragraph"), file_type=("markdown",), has_clean_paragraphs=True),
                    Rule(_RECURSIVE),
                ),
            ),
            Policy(
                "auto",  # the figures behind these numbers: docs/adr/0010
                (
                    Rule(strategy("row"), file_type=TABULAR),
                    Rule(
                        strategy("semantic", {"percentile": 20, "target_tokens": 128, "min_tokens": 32}),
                        tags=HIGH_VALUE_TAGS,
                    ),
                    Rule(
                        strategy("section", {"target_tokens": 112, "merge_below_tokens": 16}),
                        has_headings=True,
                    ),
                    Rule(
                        strategy(
                            "sentence_window", {"target_tokens": 128, "overlap_tokens": 32, "min_tokens": 32}
                        )
                    ),
                ),
            ),
            Policy("recursive_only", (Rule(_RECURSIVE),)),
            Policy("fixed_only", (Rule(strategy("fixed")),)),
        )
    }
)


def policy(name: str, known: Mapping[str, Policy] = BUILT_IN) -> Policy:
    """The policy called ``name``; an unknown one is an error that lists the known ones."""
    if name not in known:
        raise errors.unknown("policy", name, known)
    return known[name]


class ChunkingFactory:
    """The one seam between documents and strategies: pure, no input or output.

    ``mode`` (the value of ``CHUNKING_FACTORY_MODE``) overrides the policy for every document, with
    ``recursive_only`` as the way back if a policy turns out wrong; ``known`` are the policies that
    a mode may name, the built-in ones where none are given.
    """

    def __init__(
        self, policy: Policy, mode: str | None = None, known: Mapping[str, Policy] | None = None
    ) -> None:
        choices = {**BUILT_IN, **(known or {}), policy.name: policy}
        if mode and mode not in choices:
            raise errors.unknown("CHUNKING_FACTORY_MODE", mode, choices)
        self.policy = choices[mode] if mode else policy

    def from_metadata(self, meta: DocumentMetadata) -> ChunkingStrategy:
        """The strategy for a document with this metadata."""
        return self.policy.choose(meta)


def policy_from_rules(name: str, rules: Iterable[Mapping[str, Any]]) -> Policy:
    """A user's policy from the mappings in ``sources.yaml``.

    Each rule is ``{when: {...}, strategy: name, parameters: {...}}``; without ``when`` it always
    holds. What no rule is for is cut recursively. Errors name policy, rule, key and value.
    """
    found = []
    for number, rule in enumerate(rules, start=1):
        try:
            found.append(_rule(rule))
        except errors.ConfigurationError as fault:
            message = f"policy {name!r}, rule {number}: {fault}"
            raise errors.ConfigurationError(message) from fault
    if not found:
        message = f"policy {name!r} has no rules"
        raise errors.ConfigurationError(message)
    return Policy(name, (*found, Rule(_RECURSIVE)))


def _rule(rule: Mapping[str, Any]) -> Rule:
    _must_be(rule, Mapping, "a rule", "a mapping")
    for key in rule:
        if key not in _RULE_KEYS:
            raise errors.unknown("key of a rule", key, _RULE_KEYS)
    if "strategy" not in rule:
        message = "a rule must name its strategy, as in strategy: section"
        raise errors.ConfigurationError(message)
    parameters = rule.get("parameters") or {}
    _must_be(parameters, Mapping, "parameters", "a mapping")
    when = rule.get("when") or {}
    _must_be(when, Mapping, "when", "a mapping")
    return Rule(strategy(str(rule["strategy"]), parameters), **_conditions(when))


def _conditions(when: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in when.items():
        if key not in _CONDITIONS:
            raise errors.unknown("condition", key, _CONDITIONS)
        if key.startswith("has_"):
            _must_be(value, bool, key, "true or false")
            found[key] = value
        else:
            found[key] = _names(key, value)
    return found


def _names(key: str, value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not names or not all(isinstance(n, str) for n in names):
        message = f"{key}: {value!r} is neither a name nor a list of names"
        raise errors.ConfigurationError(message)
    return tuple(names)


def _must_be(value: Any, kind: type, key: str, wanted: str) -> None:
    if not isinstance(value, kind):
        message = f"{key}: {value!r} is not {wanted}"
        raise errors.ConfigurationError(message)

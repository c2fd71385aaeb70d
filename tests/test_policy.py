"""The factory by table over its whole input space, and every error a rule can make."""

from __future__ import annotations

import itertools
import pickle

import pytest

from chunk_assets.errors import ConfigurationError
from chunk_assets.policy import (
    BUILT_IN,
    HIGH_VALUE_TAGS,
    TABULAR,
    ChunkingFactory,
    policy,
    policy_from_rules,
)
from chunk_assets.records import DocumentMetadata

FILE_TYPES = ("csv", "xlsx", "docx", "email", "html", "markdown", "pdf", "pptx", "text", "never seen")
TAGS: tuple[tuple[str, ...], ...] = (
    (),
    ("press",),
    ("Legal",),
    ("medical", "press"),
    ("contract",),
    ("compliance",),
)
SPACE = [
    DocumentMetadata(file_type=kind, tags=tags, has_headings=heads, has_clean_paragraphs=clean)
    for kind, tags, heads, clean in itertools.product(FILE_TYPES, TAGS, (False, True), (False, True))
]


def expected(name: str, meta: DocumentMetadata) -> str:
    """The decisions once more, as plain conditions."""
    high = any(tag.lower() in HIGH_VALUE_TAGS for tag in meta.tags)
    rows = meta.file_type in TABULAR
    tables = {
        "sentence_window": [(True, "sentence_window")],
        "recursive_only": [(True, "recursive")],
        "fixed_only": [(True, "fixed")],
        "hybrid": [
            (rows, "row"),
            (meta.has_headings and meta.file_type in {"html", "markdown"}, "section"),
            (True, "semantic"),
        ],
        "tiered": [
            (high, "semantic"),
            (meta.file_type == "markdown" and meta.has_clean_paragraphs, "paragraph"),
            (True, "recursive"),
        ],
        "auto": [
            (rows, "row"),
            (high, "semantic"),
            (meta.has_headings, "section"),
            (True, "sentence_window"),
        ],
    }
    return next(strategy for holds, strategy in tables[name] if holds)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_document_gets_the_strategy_its_decision_says(name: str) -> None:
    factory = ChunkingFactory(policy(name))
    for meta in SPACE:
        assert factory.from_metadata(meta).name == expected(name, meta), meta


@pytest.mark.parametrize("mode", sorted(BUILT_IN))
def test_a_mode_overrides_every_policy(mode: str) -> None:
    for name in BUILT_IN:
        factory = ChunkingFactory(policy(name), mode=mode)
        assert [factory.from_metadata(meta).name for meta in SPACE] == [
            expected(mode, meta) for meta in SPACE
        ]


@pytest.mark.parametrize("mode", [None, ""])
def test_no_mode_leaves_the_policy_in_force(mode: str | None) -> None:
    assert ChunkingFactory(policy("tiered"), mode=mode).policy.name == "tiered"


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match=r"CHUNKING_FACTORY_MODE 'recursiv'; known: auto, .*recursive_only"
    ):
        ChunkingFactory(policy("auto"), mode="recursiv")


def test_an_unknown_policy_names_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown policy 'magic'; known: auto, .*tiered"):
        policy("magic")


def test_a_users_policy_can_be_a_mode() -> None:
    own = policy_from_rules("ours", [{"strategy": "fixed"}])
    factory = ChunkingFactory(policy("auto"), mode="ours", known={"ours": own})
    assert factory.from_metadata(DocumentMetadata()).name == "fixed"


def test_the_decisions_keep_their_parameters() -> None:
    tiered = ChunkingFactory(policy("tiered"))
    semantic = tiered.from_metadata(DocumentMetadata(tags=("legal",)))
    assert semantic.parameters.model_dump()["threshold"] == 0.75
    sizes = tiered.from_metadata(DocumentMetadata()).parameters.sizes()
    assert (sizes.max_chars, sizes.overlap_chars) == (1000, 200)
    sizes = ChunkingFactory(policy("sentence_window")).from_metadata(DocumentMetadata()).parameters.sizes()
    assert (sizes.target_tokens, sizes.overlap_tokens, sizes.min_tokens) == (500, 100, 100)
    assert (sizes.sentence_words, sizes.window_words) == (562, 375)


def test_a_choice_survives_a_trip_to_another_process() -> None:
    chosen = ChunkingFactory(policy("auto")).from_metadata(DocumentMetadata(file_type="pdf"))
    again = pickle.loads(pickle.dumps(chosen))
    assert again == chosen
    assert again.fingerprint == chosen.fingerprint


def test_fingerprints_of_policies_differ() -> None:
    assert len({found.fingerprint for found in BUILT_IN.values()}) == len(BUILT_IN)


def test_the_first_rule_that_holds_decides_and_what_none_is_for_is_recursive() -> None:
    own = policy_from_rules(
        "ours",
        [
            {"when": {"tags": "draft"}, "strategy": "fixed", "parameters": {"max_chars": 500}},
            {"when": {"file_type": ["pdf", "docx"], "has_headings": True}, "strategy": "section"},
            {"when": {"document_type": ["10-K"]}, "strategy": "semantic"},
        ],
    )
    factory = ChunkingFactory(own)

    def chosen(**facts: object) -> str:
        return factory.from_metadata(DocumentMetadata(**facts)).name  # type: ignore[arg-type]

    assert chosen(tags=("Draft",), file_type="pdf", has_headings=True) == "fixed"
    assert chosen(file_type="pdf", has_headings=True) == "section"
    assert chosen(file_type="pdf", has_headings=False) == "recursive"
    assert chosen(document_type="10-k") == "semantic"
    assert chosen() == "recursive"
    assert factory.from_metadata(DocumentMetadata(tags=("draft",))).parameters.sizes().max_chars == 500


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([], "policy 'ours' has no rules"),
        ([{}], "rule 1: a rule must name its strategy"),
        (["section"], "rule 1: a rule: 'section' is not a mapping"),
        ([{"strategy": "magic"}], "rule 1: unknown strategy 'magic'; known: fixed, paragraph"),
        (
            [{"strategy": "row"}, {"strateg": "row"}],
            "rule 2: unknown key of a rule 'strateg'; known: parameters",
        ),
        ([{"strategy": "row", "when": {"tag": "x"}}], "unknown condition 'tag'; known: document_type"),
        ([{"strategy": "row", "when": {"has_headings": "yes"}}], "has_headings: 'yes' is not true or false"),
        ([{"strategy": "row", "when": {"tags": 3}}], "tags: 3 is neither a name nor a list"),
        ([{"strategy": "row", "when": {"tags": []}}], r"tags: \[\] is neither a name nor a list"),
        ([{"strategy": "row", "when": ["x"]}], r"when: \['x'\] is not a mapping"),
        ([{"strategy": "row", "parameters": [1]}], r"parameters: \[1\] is not a mapping"),
        (
            [{"strategy": "row", "parameters": {"size": 3}}],
            "unknown parameter of row 'size'; known: .*max_tokens",
        ),
        ([{"strategy": "row", "parameters": {"max_tokens": "many"}}], "max_tokens: 'many': .*integer"),
        (
            [{"strategy": "row", "parameters": {"max_tokens": 9, "overlap_tokens": 9}}],
            "overlap_tokens 9 must be less",
        ),
        ([{"strategy": "semantic", "parameters": {"overlap_sentences": 3}}], "overlap_sentences.*2"),
        ([{"strategy": "semantic", "parameters": {"threshold": 0.7, "percentile": 5}}], "not both"),
    ],
)
def test_every_error_in_a_rule_names_key_value_and_choices(rules: list[object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        policy_from_rules("ours", rules)  # type: ignore[arg-type]

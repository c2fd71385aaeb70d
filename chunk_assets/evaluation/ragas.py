"""Export in the form that RAGAS' ``EvaluationDataset.from_jsonl`` reads, and its metrics without a model."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator

from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation import retrievers
from chunk_assets.evaluation.contenders import Contender
from chunk_assets.evaluation.records import Question, QuestionSet
from chunk_assets.evaluation.runner import Bench, cut, ranked


def export(
    questions: QuestionSet, entry: Contender, retriever: str, k: int = 5, bench: Bench | None = None
) -> Iterator[str]:
    """JSON lines with ``user_input``, ``retrieved_contexts``, ``reference_contexts`` and ``reference``.

    Of several alternative truths the first is the reference. Unanswerable questions are left out,
    since RAGAS' retrieval metrics are not defined for them.
    """
    corpus = cut(questions, entry)
    texts = {d.name: d.markdown for d in questions.documents}
    found = retrievers.top(ranked(questions, corpus, retriever, bench or Bench()), k)
    for question, order in zip(questions.questions, found, strict=True):
        if question.answerable:
            pieces = [corpus.pieces[i] for i in order]
            yield _line(question, [texts[p.document][p.start : p.end] for p in pieces], texts)


def _line(question: Question, retrieved: list[str], texts: dict[str, str]) -> str:
    references = [texts[p.document][p.start : p.end] for p in question.alternatives[0]]
    return json.dumps(
        {
            "user_input": question.text,
            "retrieved_contexts": retrieved,
            "reference_contexts": references,
            "reference": "\n".join(references),
        },
        ensure_ascii=False,
    )


def llm_free_scores(lines: Iterable[str]) -> dict[str, float]:
    """Means of RAGAS' context recall and precision that need no language model, over exported lines.

    They compare strings by edit distance, so they favour chunks of the length of the references; our own
    measures on character spans do not have that fault. ``ConfigurationError`` names the extra to install.
    """
    os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")  # read when the library is loaded
    try:
        from ragas import SingleTurnSample
        from ragas.metrics import NonLLMContextPrecisionWithReference, NonLLMContextRecall
    except ImportError as error:
        raise ConfigurationError(
            f"RAGAS can't be loaded ({error}); pip install 'chunk-assets[ragas]'"
        ) from error
    samples = [SingleTurnSample(**json.loads(line)) for line in lines]
    metrics = (NonLLMContextRecall(), NonLLMContextPrecisionWithReference())
    return {m.name: _mean([m.single_turn_score(sample) for sample in samples]) for m in metrics}


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0

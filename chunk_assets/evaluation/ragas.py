"""Export in the form that RAGAS' ``EvaluationDataset.from_jsonl`` reads, one question a line."""

from __future__ import annotations

import json
from collections.abc import Iterator

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

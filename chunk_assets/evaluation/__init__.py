"""Measures how well chunks can be found again, on questions whose answers have exact places."""

from chunk_assets.evaluation.contenders import Contender, contender, of_policy, of_strategy
from chunk_assets.evaluation.kept import keep, kept, topic_shares
from chunk_assets.evaluation.loaders import load_set
from chunk_assets.evaluation.records import EvalDocument, Piece, Question, QuestionSet
from chunk_assets.evaluation.runner import Bench, Result, evaluate
from chunk_assets.evaluation.tables import Difference, Row, differences, markdown, plot, rows

__all__ = [
    "Bench",
    "Contender",
    "Difference",
    "EvalDocument",
    "Piece",
    "Question",
    "QuestionSet",
    "Result",
    "Row",
    "contender",
    "differences",
    "evaluate",
    "keep",
    "kept",
    "load_set",
    "markdown",
    "of_policy",
    "of_strategy",
    "plot",
    "rows",
    "topic_shares",
]

"""Measures how well chunks can be found again, on questions whose answers have exact places."""

from chunk_assets.evaluation.contenders import Contender, contender, of_policy, of_strategy
from chunk_assets.evaluation.loaders import load_set
from chunk_assets.evaluation.records import EvalDocument, Piece, Question, QuestionSet
from chunk_assets.evaluation.runner import Bench, Result, evaluate
from chunk_assets.evaluation.tables import Row, differences, markdown, plot, rows

__all__ = [
    "Bench",
    "Contender",
    "EvalDocument",
    "Piece",
    "Question",
    "QuestionSet",
    "Result",
    "Row",
    "contender",
    "differences",
    "evaluate",
    "load_set",
    "markdown",
    "of_policy",
    "of_strategy",
    "plot",
    "rows",
]

"""Fixtures of the stores."""

from tests.postgres_server import postgres

__all__ = ["postgres"]

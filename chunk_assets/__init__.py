"""Verified, reproducible chunk and embedding tables from business documents."""

__version__ = "0.1.0"

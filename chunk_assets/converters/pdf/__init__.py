"""PDF to markdown: words and rules by PDFium, layout by geometry.

A page is read into words with boxes (``reading``, ``graphics``), turned into tables and ordered
lines (``lattice``, ``stream``, ``order``), then the whole document into blocks and markdown
(``blocks``, ``furniture``, ``headings``, ``notes``, ``assembly``, ``render``).
PDFium is not thread-safe: convert in processes.
"""

from __future__ import annotations

from chunk_assets.converters.base import Converter
from chunk_assets.converters.pdf.conversion import convert

__all__ = ["PDF"]

PDF = Converter("pdf", version=1, media_types=("application/pdf",), convert=convert)

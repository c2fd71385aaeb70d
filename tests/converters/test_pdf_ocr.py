"""Pages that are pictures, read with the extra ``ocr``."""

from __future__ import annotations

import importlib.util
import io

import pdf_building as pdf
import pytest

from chunk_assets.converters.base import Options
from chunk_assets.converters.pdf import PDF
from chunk_assets.errors import ConfigurationError

INSTALLED = importlib.util.find_spec("rapidocr") is not None


def scanned(content: str) -> bytes:
    """A PDF whose only page is a picture of a page with this content."""
    import pypdfium2

    bitmap = pypdfium2.PdfDocument(pdf.build([content]))[0].render(scale=3)
    document = pypdfium2.PdfDocument.new()
    page = document.new_page(pdf.WIDTH, pdf.HEIGHT)
    image = pypdfium2.PdfImage.new(document)
    image.set_bitmap(bitmap)
    image.set_matrix(pypdfium2.PdfMatrix().scale(pdf.WIDTH, pdf.HEIGHT))
    page.insert_obj(image)
    page.gen_content()
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


@pytest.mark.skipif(INSTALLED, reason="the extra ocr is installed")
def test_without_the_extra_the_error_names_it():
    with pytest.raises(ConfigurationError, match=r"chunk-assets\[ocr\]"):
        PDF.convert(scanned(pdf.text(72, 700, "Board minutes", 24)), Options(ocr=True))


@pytest.mark.skipif(not INSTALLED, reason="needs the extra ocr (rapidocr)")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_scan_is_read_and_said_to_be_so():
    converted = PDF.convert(scanned(pdf.text(72, 700, "Minutes of the board meeting", 24)), Options(ocr=True))
    assert "Minutes of the board meeting" in converted.markdown
    assert converted.warnings == ("pages read by OCR: 1",)


def test_text_pages_are_never_recognised():
    data = pdf.build([pdf.text(72, 700, "Minutes of the board meeting", 24)])
    assert PDF.convert(data, Options(ocr=True)) == PDF.convert(data, Options())

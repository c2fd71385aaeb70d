"""Mail: headers, bodies of every kind, attachments."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from chunk_assets.converters import media
from chunk_assets.converters.base import Options
from chunk_assets.converters.email import EMAIL
from chunk_assets.converters.sniff import media_type
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted


def convert(message: EmailMessage | bytes) -> Converted:
    return EMAIL.convert(message if isinstance(message, bytes) else message.as_bytes(), Options())


@pytest.fixture
def message() -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "Renewal", "Ana Ruiz <ana@a.example>", "Bo <bo@b.example>"
    mail["Date"] = "Mon, 01 Jan 2024 10:00:00 +0100"
    mail["Message-ID"] = "<1@a.example>"
    return mail


HEAD = (
    "# Renewal\n\nFrom: Ana Ruiz <ana@a.example>\nTo: Bo <bo@b.example>\n"
    "Date: Mon, 01 Jan 2024 10:00:00 +0100\n\n"
)


def test_headers_make_a_short_block_and_facts(message):
    message.set_content("Dear Bo,\n\nplease sign.\n")
    result = convert(message)
    assert result.markdown == f"{HEAD}Dear Bo,\n\nplease sign.\n"
    assert result.facts["title"] == "Renewal"
    assert result.facts["author"] == "Ana Ruiz <ana@a.example>"
    assert result.facts["created"] == "2024-01-01T10:00:00+01:00"
    assert result.facts["message_id"] == "<1@a.example>"


def test_plain_text_is_preferred_and_html_taken_where_there_is_none(message):
    message.set_content("Plain body")
    message.add_alternative("<p>HTML body</p>", subtype="html")
    assert convert(message).markdown == f"{HEAD}Plain body\n"
    only = EmailMessage()
    only["Subject"] = "x"
    only.set_content("<h2>Head</h2><ul><li>a<li>b</ul>", subtype="html")
    assert convert(only).markdown == "# x\n\n## Head\n\n- a\n- b\n"


def test_a_blank_alternative_is_not_preferred(message):
    message.set_content(" \n")
    message.add_alternative("<p>Real body</p>", subtype="html")
    assert convert(message).markdown.endswith("Real body\n")


def test_attachments_are_listed_with_type_and_size(message):
    message.set_content("See attached.")
    message.add_attachment(b"12345", maintype="application", subtype="pdf", filename="Größe_1.pdf")
    message.add_attachment("text", filename="note.txt")
    result = convert(message)
    assert "Attachments:\n\n- Größe_1.pdf (application/pdf, 5 bytes)\n- note.txt (text/plain, 5 bytes)" in (
        result.markdown
    )
    assert result.facts["attachments"] == "2"


def test_attached_messages_are_read(message):
    inner = EmailMessage()
    inner["Subject"], inner["From"] = "Inner", "c@c.example"
    inner.set_content("Inner text")
    message.set_content("Forwarded:")
    message.add_attachment(inner)
    assert convert(message).markdown == f"{HEAD}Forwarded:\n\n## Inner\n\nFrom: c@c.example\n\nInner text\n"


def test_quotes_stay_quotes_and_markup_is_escaped(message):
    message.set_content("> earlier *words*\n> more\n\n# not a heading\n")
    assert convert(message).markdown == f"{HEAD}> earlier \\*words\\*\n> more\n\n\\# not a heading\n"


def test_flowed_lines_are_joined():
    head = b"Subject: x\nContent-Type: text/plain; format=flowed\n\n"
    data = head + b"One line that \ngoes on.\nNew line.\n-- \nSig\n"
    assert convert(data).markdown == "# x\n\nOne line that goes on.\nNew line.\n\\--\nSig\n"


def test_encoded_words_and_declared_charsets():
    data = (
        b"Subject: =?iso-8859-1?Q?Gr=F6=DFe?= =?utf-8?B?w6TDtg==?=\n"
        b"Content-Type: text/plain; charset=koi8-r\n"
        b"Content-Transfer-Encoding: 8bit\n\n" + "Договор".encode("koi8_r")
    )
    assert convert(data).markdown == "# Größeäö\n\nДоговор\n"


def test_wrong_charsets_and_raw_bytes_in_headers_do_no_harm():
    data = b"Subject: Gr\xf6\xdfe\nContent-Type: text/plain; charset=nonsense\n\n" + "Größe".encode()
    assert convert(data).markdown == "# Größe\n\nGröße\n"


def test_a_message_stored_as_utf_16_is_read():
    data = "Subject: Test\nContent-Type: text/plain; charset=utf-16\n\nRoses are red\n".encode("utf-16")
    assert convert(data).markdown == "# Test\n\nRoses are red\n"


def test_quoted_printable_and_base64_bodies(message):
    message.set_content("Größe — naïve\n", cte="base64")
    assert convert(message).markdown.endswith("Größe — naïve\n")
    message.set_content("Größe = 5\n", cte="quoted-printable")
    assert convert(message).markdown.endswith("Größe = 5\n")


def test_encrypted_mail_says_so():
    data = b"Subject: x\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nAAAA\n"
    with pytest.raises(DocumentFailure) as caught:
        convert(data)
    assert caught.value.status == "encrypted"


@pytest.mark.parametrize("data", [b"", b" \n\n", b"\n"])
def test_nothing_is_empty(data: bytes):
    with pytest.raises(DocumentFailure) as caught:
        convert(data)
    assert caught.value.status == "empty"


def test_messages_nested_without_end_are_bounded():
    data = b"Subject: deep\n\nend\n"
    for level in range(60):
        data = b"Subject: l%d\nContent-Type: message/rfc822\n\n" % level + data
    result = convert(data)
    assert result.markdown.startswith("# l59")
    assert result.warnings == ("messages attached more than 5 deep were left out",)


def test_a_saved_web_page_is_its_text_without_its_styles():
    page = (
        b'MIME-Version: 1.0\nContent-Type: multipart/related; boundary="b"; type="text/html"\n\n'
        b'--b\nContent-Type: text/html; charset="utf-8"\nContent-Transfer-Encoding: quoted-printable\n\n'
        b"<h1>Caf=C3=A9</h1><p>Open daily</p>\n--b\nContent-Type: text/css\n\nbody { color: red }\n--b--\n"
    )
    assert media_type(page, "page.doc") == media.EMAIL
    assert convert(page).markdown == "# Café\n\nOpen daily\n"

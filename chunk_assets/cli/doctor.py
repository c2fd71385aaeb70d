"""``chunk-assets doctor``: what is wrong with this machine or home, and the mend."""

from __future__ import annotations

import click

from chunk_assets.cli.common import SOME_FAILED, Output, home_options


@click.command("doctor")
@home_options
def command(out: Output) -> int:
    """Check versions, models, tokenizers, write access, disk, port and sources, with the mend for each."""
    from chunk_assets.doctor import examine

    findings = list(examine(out.home))
    well = all(finding.ok for finding in findings)
    out.result(
        {
            "ok": well,
            "findings": [{"what": f.what, "ok": f.ok, "mend": "" if f.ok else f.mend} for f in findings],
        }
    )
    rows = [("ok" if f.ok else "WRONG", f.what, "" if f.ok else f.mend) for f in findings]
    out.table("Doctor", ("", "what", "mend"), rows)
    return 0 if well else SOME_FAILED

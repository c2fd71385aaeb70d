"""``python -m chunk_assets`` is ``chunk-assets``."""

from chunk_assets.cli import main

main()

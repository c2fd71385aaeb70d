"""Pure text: blocks, sentences, tokens, graphemes. Knows no tables and no Dagster."""

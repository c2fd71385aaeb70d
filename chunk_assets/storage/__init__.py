"""Tables, vectors, locks and state of a home on disk."""

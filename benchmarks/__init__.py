"""Measurements against the other tools of the field; see ``docs`` for how to read them."""

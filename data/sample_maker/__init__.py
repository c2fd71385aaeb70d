"""Makes the binary samples from texts in this folder, byte for byte the same each time.

Nothing here is imported by the package: it is how `data/samples` came to be, kept so that anyone can
check it or change a text and make the files anew.
"""

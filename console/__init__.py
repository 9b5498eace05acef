"""What a person types: commands, the Textual app, and plain output where there is no terminal."""

import os

# Textual reads this when it is imported, so it stands before everything else. A key is answered within two of its
# frames, which at its usual 60 a second are 33 ms. Data is painted at a rate of our own, so this makes nothing busier.
os.environ.setdefault("TEXTUAL_FPS", "500")

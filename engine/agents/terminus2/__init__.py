"""`terminus2`: our own implementation of the Terminus 2 protocol. A model on the host works in `main` through one
terminal, by keys that it sends and by what it sees."""

"""One trial, readable from top to bottom."""

"""Scores from anywhere, with where each comes from."""

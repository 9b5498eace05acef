"""Run folders -> the same event stream."""

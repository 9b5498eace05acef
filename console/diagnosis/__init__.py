"""What works on this machine and what doesn't, and the way out of each."""

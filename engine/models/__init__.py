"""Models: how one is reached, what a call of it cost, and how it fails. Knows nothing of agents and environments."""

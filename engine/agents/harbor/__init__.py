"""Harbor's agents, each by its name: they drive our environments through an adapter of Harbor's environment interface.

Everything but `presence`, `traits` and `secrets` needs Harbor to be there, and is loaded only where it is.
"""

"""Runtime capsules: bundles of a runtime and its programs that are carried into `main` as they are.

An image without Node, Python or tmux can be worked in all the same, also in a trial without network, and every trial
of a run gets the same bytes.
"""

"""The engine's version, as it is written into run cards and results."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("trialdeck")
except PackageNotFoundError:  # run from a source tree that was never installed
    VERSION = "0"

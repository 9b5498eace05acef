"""Getting a machine ready for trialdeck: its Python environment, a Docker engine, the base image.

Everything here runs before anything is installed, so it imports the standard library alone.
`./dev` is the way in.
"""

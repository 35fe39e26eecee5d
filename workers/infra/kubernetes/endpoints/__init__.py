"""The kinds of public endpoints: how clients outside the cluster reach a space.

``registry`` has one row for each kind, and each kind has a module of its own.
"""

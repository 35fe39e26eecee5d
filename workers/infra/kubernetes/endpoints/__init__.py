"""The kinds of public endpoints: how clients reach a space, from outside or inside the cluster.

``registry`` has one row for each kind, and each kind has a module of its own.
"""

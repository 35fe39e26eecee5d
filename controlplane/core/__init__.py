"""Shared kernel: errors, ids, phases, operations, audit. Imports none of our other packages."""

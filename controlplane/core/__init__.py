"""The shared kernel, such as errors, ids, phases, operations, audit and leases.

Its modules import none of our other packages.
"""

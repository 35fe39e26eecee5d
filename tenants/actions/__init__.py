"""Actions: the functions that change tenants and desired state.

An action takes keyword arguments only and runs in one transaction. If it changes something, it
writes an audit event. Tasks are enqueued after the commit.
"""

"""Actions that change desired state.

Every action takes keyword arguments only, runs in one transaction and writes an audit event. Tasks
are enqueued after the commit.
"""

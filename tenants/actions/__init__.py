"""Actions: the functions that change tenants and desired state.

An action takes keyword arguments only and runs in one transaction. If it changes something, it
writes an audit event in this transaction; ``by`` is the actor that the event names. Celery tasks
are enqueued after the commit. Actions check quotas and rules. They do not check the permissions of
the actor, which the API and the portal do before.
"""

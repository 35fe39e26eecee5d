"""Local accounts: what Waypost adds to django-allauth.

The library confirms email addresses, changes and resets passwords, and stores second factors and
the list of sessions. This package connects it to Waypost's mail, audit log, rate limits and
encryption. Pages and forms are in ``controlplane.console``.
"""

"""The controller of custom resources, which are objects in a cluster that describe spaces.

It creates, changes and deletes spaces, addresses and users in Waypost to match these objects.
``python -m workers.custom_resources`` runs it (see docs/develop/kubernetes-resources.md). It calls
the REST API as any other client, with a token of the tenant, and reads no database.
"""

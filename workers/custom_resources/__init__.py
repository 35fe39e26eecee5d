"""The controller of custom resources: it makes spaces what objects in a cluster say, by the API.

``python -m workers.custom_resources`` runs it (see docs/develop/kubernetes-resources.md). It calls
the REST API as any other client, with a token of the tenant, and reads no database.
"""

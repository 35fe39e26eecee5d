"""The web server: it reads requests asynchronously and runs Django in a bounded number of threads.

``python -m controlplane.web`` starts it. ADR 19 says why Waypost has its own web server.
"""

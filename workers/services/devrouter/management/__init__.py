"""Serve the router's management address ``$management``, with Dispatch's quirks (``agent``)."""

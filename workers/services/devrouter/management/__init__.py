"""The router's management address ``$management``, as in Dispatch, with its quirks (``agent``)."""

"""The portal: server-rendered pages over the same actions and queries as the API."""

"""The portal: HTML pages rendered on the server, over the same actions and queries as the API."""

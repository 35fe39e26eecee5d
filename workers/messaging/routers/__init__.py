"""The router driver: what a space's routers should hold, and how to make them hold it."""

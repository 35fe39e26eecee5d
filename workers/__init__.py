"""The only code that touches clusters, routers and brokers."""

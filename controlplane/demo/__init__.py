"""The demonstration: two tenants, real clients, one bill each, compared.

``story`` tells it; ``customers`` act over REST, ``exchanges`` send and receive with real AMQP
clients, ``bills`` closes, issues, recomputes and compares. It speaks to Waypost as anybody could:
over the API and over AMQP. It never reads the database.
"""

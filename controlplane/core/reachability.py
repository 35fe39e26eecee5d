"""Check whether PostgreSQL and Redis answer now. An absent server gives False, not an error.

A probe runs this module in a process of its own, in which Django is not set up. So the module
imports Django only inside ``database_answers``.
"""

import redis


def database_answers() -> bool:
    """Return whether PostgreSQL answers a query on Django's default connection."""
    from django.db import Error, connection

    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:  # also InterfaceError: the connection is broken
        return False
    return True


def queue_answers(url: str) -> bool:
    """Return whether the Redis at ``url`` answers a ping; waits about a second for each step."""
    # Short timeouts: Kubernetes fails a probe that waits for an absent Redis.
    client = redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)
    try:
        return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()

"""Whether PostgreSQL and Redis answer now. Each question takes seconds at most and raises nothing.

This module imports neither Django's settings nor its models before it needs them, because a probe
runs it in a process of its own.
"""

import redis


def database_answers() -> bool:
    """Return whether the database of the settings answers a query."""
    from django.db import DatabaseError, connection

    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def queue_answers(url: str) -> bool:
    """Return whether the Redis at ``url`` answers."""
    # Short timeouts: Kubernetes fails a probe that waits for an absent Redis.
    client = redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)
    try:
        return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()

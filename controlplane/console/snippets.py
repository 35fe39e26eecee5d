"""Renders example client programs for one space, messaging user and address.

Pure, except that templates are read from files. The programs read the password from the
environment.
"""

from dataclasses import dataclass

from django.template.loader import render_to_string

from controlplane.core import address_types

_LANGUAGES = (("python", "Python"), ("java", "Java"), ("node", "Node.js"))


@dataclass(frozen=True)
class Target:
    """What an example program connects to: an endpoint of a space, a user and one address.

    ``space``, ``user`` and ``address`` are names. ``needs_file``: the client must load the
    certificate authority of the space from a file, because it does not trust that authority yet.
    """

    space: str
    host: str
    port: int
    user: str
    address: str
    address_type: str
    needs_file: bool = True


@dataclass(frozen=True)
class Snippet:
    """One example program: ``title`` is its language, ``text`` its code, ``key`` its template."""

    key: str
    title: str
    text: str


def build_all(target: Target) -> list[Snippet]:
    """Return an example program for ``target`` in each language, in display order."""
    # Qpid JMS sends the kind of a destination, Queue or Topic, as a capability of the link.
    is_topic = address_types.BY_SLUG[target.address_type].is_jms_topic
    context = {
        "url": f"amqps://{target.host}:{target.port}",
        "host": target.host,
        "port": target.port,
        "user": target.user,
        "address": target.address,
        "ca_file": ca_file(target.space) if target.needs_file else "",
        "trust_store": f"{target.space}-ca.p12",
        "jms_destination": "createTopic" if is_topic else "createQueue",
    }
    return [
        Snippet(key, title, render_to_string(f"console/snippets/{key}.txt", context).strip() + "\n")
        for key, title in _LANGUAGES
    ]


def ca_file(space: str) -> str:
    """Return the file name under which examples and downloads keep a space's certificate.

    ``space`` is the space's name.
    """
    return f"{space}-ca.pem"

"""Client programs to copy: filled in for one space, user and address. Pure apart from templates.

The password never stands in them; they read it from the environment.
"""

from dataclasses import dataclass

from django.template.loader import render_to_string

_LANGUAGES = (("python", "Python"), ("java", "Java"), ("node", "Node.js"))
_JMS_TOPICS = {"topic", "subscription", "multicast"}


@dataclass(frozen=True)
class Target:
    """What a client connects to: endpoint, user and one address.

    ``needs_file``: it must trust an authority that it does not know yet.
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
    """One program: ``key`` for addresses of pages, ``title`` for people, ``text`` to copy."""

    key: str
    title: str
    text: str


def build_all(target: Target) -> list[Snippet]:
    """Return the client program of each language, in the order that pages show."""
    words = {
        "url": f"amqps://{target.host}:{target.port}",
        "host": target.host,
        "port": target.port,
        "user": target.user,
        "address": target.address,
        "ca_file": ca_file(target.space) if target.needs_file else "",
        "trust_store": f"{target.space}-ca.p12",
        "jms_destination": ("createTopic" if target.address_type in _JMS_TOPICS else "createQueue"),
    }
    return [
        Snippet(key, title, render_to_string(f"console/snippets/{key}.txt", words).strip() + "\n")
        for key, title in _LANGUAGES
    ]


def ca_file(space: str) -> str:
    """Return the file name under which the page offers what clients must trust."""
    return f"{space}-ca.pem"

"""Builds XML trees by prefixed names and writes them as bytes; equal trees give equal bytes."""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

# Characters that XML 1.0 does not allow (section 2.2).
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Held from the registration of prefixes until the document is written with them.
_PREFIXES = threading.Lock()


@dataclass(frozen=True)
class Tree:
    """A tree below ``root``; ``namespaces`` maps the prefixes of its names."""

    root: Element
    namespaces: Mapping[str, str]

    @classmethod
    def begin(cls, name: str, namespaces: Mapping[str, str]) -> "Tree":
        """Return a tree with one empty element."""
        return cls(Element(_qualified(name, namespaces)), namespaces)

    def add(self, parent: Element, path: str, text: str = "", **attributes: str) -> Element:
        """Add the elements of ``path`` (``cac:Party/cbc:Name``), each in the one before it.

        Returns the last one, which gets text and attributes.
        """
        for name in path.split("/"):
            parent = ElementTree.SubElement(parent, _qualified(name, self.namespaces))
        parent.text = _FORBIDDEN.sub("", text) or None
        parent.attrib.update(attributes)
        return parent

    def to_bytes(self) -> bytes:
        """Return the document in UTF-8, indented, with the prefixes of ``namespaces``."""
        ElementTree.indent(self.root)
        # Registered for the whole process: without it, ElementTree writes ns0 and ns1. Here and not
        # at import, because ``ubl`` is the prefix of two namespaces, and the last one counts.
        with _PREFIXES:
            for prefix, uri in self.namespaces.items():
                ElementTree.register_namespace(prefix, uri)
            made: bytes = ElementTree.tostring(self.root, encoding="utf-8", xml_declaration=True)
        return made + b"\n"


def _qualified(name: str, namespaces: Mapping[str, str]) -> str:
    prefix, _, local = name.rpartition(":")
    return f"{{{namespaces[prefix]}}}{local}"

"""Write the package ``waypost_client`` from the API document.

``make client`` runs it with the Python of ``.venv/generator``, and a test does so too::

    python .ci/client/generate.py docs/openapi.json FOLDER
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from openapi_python_client import Config, MetaType, generate
from openapi_python_client.config import ConfigFile

_HERE = Path(__file__).parent
# A stream of events has no end, so no function can return it.
_STREAM = "text/event-stream"


def main(document: Path, folder: Path) -> None:
    """Write the package into ``folder``; end with exit code 1 if the generator misses a part."""
    with tempfile.TemporaryDirectory() as place:
        simple = Path(place) / "openapi.json"
        simple.write_text(json.dumps(_simplified(json.loads(document.read_text()))))
        names = ConfigFile.load_from_path(_HERE / "config.yaml")
        config = Config.from_sources(names, MetaType.NONE, simple, "utf-8", True, folder)
        missed = generate(config=config, custom_template_path=_HERE / "templates")
    # PEP 561: the package has types.
    (folder / "py.typed").touch()
    if missed:
        raise SystemExit("\n".join(f"{one.header}\n{one.detail}" for one in missed))


def _simplified(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without what the functions of the client do not take from it.

    * Errors: every operation has the same, which ``errors.check`` reads.
    * Defaults: the server knows them; a client that sends them would fix those of its own version.
    * Examples: only texts, and many.
    """
    for path in document["paths"].values():
        for method, operation in list(path.items()):
            answers = {code: one for code, one in operation["responses"].items() if code < "400"}
            operation["responses"] = answers
            if any(_STREAM in one.get("content", {}) for one in answers.values()):
                del path[method]
    found: dict[str, Any] = _without(document, {"default", "example", "examples"})
    return found


def _without(value: Any, names: set[str], *, is_names: bool = False) -> Any:
    """Return ``value`` without the members ``names``, except where members are names of fields."""
    if isinstance(value, list):
        return [_without(one, names) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without(one, names, is_names=name == "properties" and not is_names)
        for name, one in value.items()
        if is_names or name not in names
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

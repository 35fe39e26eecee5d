"""Which extras of the package are installed here; ``app`` offers only commands that can run."""

import importlib.util


def has_embedded() -> bool:
    """Return whether an installation on this machine can be run: the extra ``embedded``.

    An image of the control plane lacks the package, and ``pip install waypost[cli]`` the libraries.
    """
    return bool(
        importlib.util.find_spec("controlplane.embedded") and importlib.util.find_spec("supervisor")
    )

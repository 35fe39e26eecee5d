"""Finds out which extras of the package are installed: ``app`` offers only runnable commands."""

import importlib.util


def has_embedded() -> bool:
    """Return whether the extra ``embedded`` is installed, so that `waypost up` can run.

    An image of the control plane lacks the package ``controlplane.embedded``. After ``pip install
    waypost[cli]`` its libraries are missing.
    """
    # ``find_spec`` looks for both and imports neither, so the start of the command stays fast.
    return bool(
        importlib.util.find_spec("controlplane.embedded") and importlib.util.find_spec("supervisor")
    )

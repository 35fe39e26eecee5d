"""Read the description of the cluster: a YAML file with the fields of ``Cluster``, no others.

The chart writes it. A mistake is told with its place, and nothing starts with half of it.
"""

from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from controlplane.core.errors import Invalid
from workers.infra.kubernetes.cluster import Cluster

_CODE = "cluster_file.invalid"


def load(path: Path) -> Cluster:
    """Return the cluster that the file describes.

    Raises:
        Invalid: ``cluster_file.invalid``: unreadable, or a field is missing, unknown or of the
            wrong type; the message names each.
    """
    try:
        return TypeAdapter(Cluster).validate_python(yaml.safe_load(path.read_text()))
    except (OSError, yaml.YAMLError) as error:
        raise Invalid(f"{path} cannot be read: {error}", code=_CODE) from error
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'the file'}: {each['msg']}"
            for each in error.errors()
        )
        raise Invalid(f"{path}: {told}", code=_CODE) from error

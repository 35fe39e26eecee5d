"""Read ``Cluster``, the description of the cluster, from the YAML file that the chart writes."""

from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from controlplane.core.errors import Invalid
from workers.infra.kubernetes.cluster import Cluster

_CODE = "cluster_file.invalid"


def load(path: Path) -> Cluster:
    """Return the cluster that the file describes.

    Raises:
        Invalid: ``cluster_file.invalid``: the file is unreadable, or fields are missing, unknown,
            of the wrong type or without a value that they need; the message names each one.
    """
    try:
        return TypeAdapter(Cluster).validate_python(yaml.safe_load(path.read_text()))
    except (OSError, yaml.YAMLError) as error:
        raise Invalid(f"{path} cannot be read: {error}", code=_CODE) from error
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'the file'}: {problem['msg']}"
            for problem in error.errors()
        )
        raise Invalid(f"{path}: {problems}", code=_CODE) from error

"""Address spaces as namespaces of a Kubernetes cluster (design: docs/kubernetes.md)."""

"""A real Kubernetes API server for tests: built once from Go modules, run as plain processes."""

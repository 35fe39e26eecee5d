"""The account that exists before anyone has signed up."""

# `controlplane.cli.prepare` creates it as staff, in a cluster and on one machine.
OPERATOR_EMAIL = "operator@waypost.example"

"""The email of the operator's account, which exists before anyone has signed up."""

# `controlplane.cli.prepare` creates it as a staff account, in a cluster and on one machine.
OPERATOR_EMAIL = "operator@waypost.example"

"""The scheduled backup of an installation in a cluster; embedded installations have another."""

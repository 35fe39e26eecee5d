"""Meters, and the copy of the usage that the lakehouse computed."""

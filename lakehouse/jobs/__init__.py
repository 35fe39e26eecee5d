"""One module a job: parse, read, transform, check, write, print one JSON line."""

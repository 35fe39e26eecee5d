"""``$management`` as Dispatch has it, quirks included where they matter to a caller."""

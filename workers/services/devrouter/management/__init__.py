"""``$management`` as in Dispatch, with the quirks that matter to callers."""

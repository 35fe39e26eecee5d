"""Engine releases: ``release`` computes the configured one, ``fleet`` moves all spaces to it."""

"""Engine releases: ``release`` computes the configured one, ``fleet`` moves spaces to a release."""

"""The portal's messaging pages in a real browser."""

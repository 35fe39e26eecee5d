"""What the tests of the portal in a real browser share: rows to look at, pages, the browser."""

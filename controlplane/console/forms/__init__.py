"""Forms by subject. They parse input and show errors; the actions enforce the rules."""

"""The portal's forms, by subject. They parse input and show errors; actions enforce the rules."""

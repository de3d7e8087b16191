"""A small world to try Tablewright on."""

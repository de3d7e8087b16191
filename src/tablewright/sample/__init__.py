"""A small world to try Tablewright on: everything in it is invented, and `truth.json` says what is true there."""

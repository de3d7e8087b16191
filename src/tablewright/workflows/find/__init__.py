"""Find rows: a description of things becomes a table of them."""

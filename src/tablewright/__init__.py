"""Tablewright fills tables with facts that carry their evidence."""

"""Research reports as files: `write.render` makes one, `write.report_format` reads from a name which kind is wanted."""

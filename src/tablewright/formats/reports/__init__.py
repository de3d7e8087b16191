"""Research reports as files: `write.render_report` makes one, `write.report_format` reads the kind from a file name."""

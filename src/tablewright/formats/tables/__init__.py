"""Read and write table files."""

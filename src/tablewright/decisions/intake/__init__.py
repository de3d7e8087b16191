"""What the advisor's first phase reads out of a message, refuses, asks and sums up."""

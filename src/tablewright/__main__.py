"""`python -m tablewright`: the command line."""

from tablewright.doors.cli import main

main()

"""`python -m tablewright`: the command line."""

from tablewright.interfaces.cli import main

main()

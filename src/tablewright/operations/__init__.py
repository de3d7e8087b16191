"""Every verb once: a typed request, a typed reply and one function; interfaces turn input into requests."""

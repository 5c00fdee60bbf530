"""The library itself, for programs that call its C functions by ctypes."""
from ._library import wb  # noqa: F401

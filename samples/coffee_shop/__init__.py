"""The Daily Grind, a coffee shop whose barista remembers its customers."""

from . import agent as agent

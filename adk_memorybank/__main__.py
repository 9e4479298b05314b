"""`python -m adk_memorybank`."""

from adk_memorybank.cli import app

app(prog_name="adk-memorybank")

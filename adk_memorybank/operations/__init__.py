"""Accepted work, never lost: a durable queue, its worker, and the streams that events wait in."""

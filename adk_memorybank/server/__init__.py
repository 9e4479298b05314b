"""The faces over HTTP: the managed service's REST API, and what clients of a served bank use."""

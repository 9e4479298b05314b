"""Where everything is kept: SQL holds the truth, Chroma the vectors."""

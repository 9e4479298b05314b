"""What is relevant: embeddings, one scope's view, exact ranking."""

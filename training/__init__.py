"""What the offline generator is trained on, and the training."""

"""What is worth keeping: from events to facts, from facts to changes of memories."""

"""What is asked of the system: one short script for each question; they import sodamem only."""

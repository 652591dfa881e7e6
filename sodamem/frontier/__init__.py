"""The cost-accuracy map of published systems: who is dominated by whom, and how much of that survives a doubt."""

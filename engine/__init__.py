"""What runs: tasks, environments, agents, trials, runs. Imports neither console nor screens, and no Textual."""

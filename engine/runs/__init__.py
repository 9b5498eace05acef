"""A run: card, plan, scheduling, run folder, control socket, resume."""

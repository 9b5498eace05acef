"""What an agent did, step by step, from the session files that agents leave."""

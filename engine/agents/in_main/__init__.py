"""What agents share whose program works in `main`: its way to the model, and its steps told while it works."""

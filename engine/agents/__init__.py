"""Who works on a task: one protocol; oracle, nop, command, replay."""

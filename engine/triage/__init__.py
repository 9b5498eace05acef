"""Who failed: rules that propose a cause with their evidence, and labels by which a person decides."""

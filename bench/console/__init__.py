"""The console under load, and at rest."""

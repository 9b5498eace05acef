"""Reading Harbor-format tasks."""

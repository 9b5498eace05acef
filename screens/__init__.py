"""What a person sees: one screen a file, parts shared by several screens in `widgets`."""

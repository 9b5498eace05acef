"""What a person types: commands, the Textual app, plain output where there is no terminal."""

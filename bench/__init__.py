"""Speed, measured: `./dev bench`."""

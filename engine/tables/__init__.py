"""Tables that people make by hand: results of trials as CSV."""

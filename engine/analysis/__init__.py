"""The numbers: rates, paired comparison, cost."""

"""`trialdeck plan`: what a design that is being planned detects; the same as `trialdeck power`."""

from __future__ import annotations

from console.commands.power import power

plan = power
SHORT_HELP = "The same as `power`."

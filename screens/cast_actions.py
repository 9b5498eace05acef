"""What can be done with a recording of a terminal."""

from __future__ import annotations

from screens.actions import Action, place

CAST = place(
    "cast",
    "In a recording",
    Action(name="play", keys=("space",), label="play", help="Play, or pause", footer=74),
    Action(name="jump(-5)", keys=("left",), label="−5 s", help="5 seconds back", palette=False),
    Action(name="jump(5)", keys=("right",), label="+5 s", help="5 seconds on", palette=False),
    Action(name="jump(-60)", keys=("pageup",), label="−1 min", help="A minute back", palette=False),
    Action(name="jump(60)", keys=("pagedown",), label="+1 min", help="A minute on", palette=False),
    Action(name="marker(-1)", keys=("p",), label="previous marker", help="To the marker before"),
    Action(name="marker(1)", keys=("n",), label="next marker", help="To the next marker"),
    Action(name="home", keys=("home", "g"), label="start", help="To the start", palette=False),
    Action(name="end", keys=("end", "G"), label="end", help="To the end", palette=False),
    Action(
        name="faster(1)", keys=("plus", "equals_sign"), label="faster", help="Twice as fast, to 32 times", footer=40
    ),
    Action(name="faster(-1)", keys=("minus",), label="slower", help="Half as fast, to a quarter"),
    Action(name="pauses", keys=("z",), label="pauses", help="Shorten pauses in which nothing happens", footer=38),
    Action(name="go_to", keys=("at",), label="go to", help="To a moment: 1:02:03, 90, +30, -30 or 40 %", footer=39),
    Action(name="pan(-1)", keys=("up", "k"), label="up", help="Up, where the picture is higher", palette=False),
    Action(name="pan(1)", keys=("down", "j"), label="down", help="Down, where the picture is higher", palette=False),
    Action(name="sideways(-1)", keys=("h",), label="left", help="Left, where the picture is wider", palette=False),
    Action(name="sideways(1)", keys=("l",), label="right", help="Right, where the picture is wider", palette=False),
)

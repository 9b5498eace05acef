"""What stops the set-up, said to a person."""


class Trouble(Exception):
    """Something that a person has to change: what is wrong, the way out, and the evidence if there is any.

    `./dev` prints it as it stands and never as a traceback.
    """

    def __init__(self, what: str, way_out: str, evidence: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.way_out = way_out
        self.evidence = evidence.strip()

    def __str__(self) -> str:
        lines = [self.what, f"  way out: {self.way_out}"]
        lines += [f"  | {line}" for line in self.evidence.splitlines()]
        return "\n".join(lines)

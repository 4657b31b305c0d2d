"""How far Whimbrel is from ns-2 in a cell, and by which experiment the difference goes away."""

NEAR = 0.10


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def deviation(ours, theirs):
    return ours / theirs - 1


def cause(cell, off, tried):
    """The letters of what a difference comes from. `off` is None where only one of the two has a value."""
    left = [(one.left(cell), one.letters) for one in tried if one.letters and one.left(cell) is not None]
    for value, letters in left:
        if value <= NEAR:
            return letters
    value, letters = min(left, key=lambda pair: pair[0], default=(None, ""))
    return f"({letters})" if value is not None and off is not None and value <= abs(off) / 2 else "?"


def shown(cell, mine, other, tried):
    """Both, the difference in bold if it is large, and where it comes from if something was tried."""
    text = f"{mine:.3g}" if mine is not None else "none"
    text += f" / {other:.3g}" if other is not None else " / none"
    off = deviation(mine, other) if mine is not None and other is not None else None
    if off is not None:
        text += f" **{off:+.0%}**" if abs(off) > NEAR else f" {off:+.0%}"
    if tried and (off is None and mine != other or off is not None and abs(off) > NEAR):
        text += f" {cause(cell, off, tried)}"
    return text

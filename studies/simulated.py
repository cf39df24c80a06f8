"""What studies share: tables in Markdown."""

from collections.abc import Iterable, Sequence


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """Print a table in Markdown, each row as soon as it is known; the first has the headings."""
    print()
    for number, row in enumerate(rows):
        print(f"| {' | '.join(row)} |", flush=True)
        if number == 0:
            print("|" + " --- |" * len(row))


def percent(share: float) -> str:
    """Return a share in per cent, with one decimal."""
    return f"{100 * share:.1f} %"

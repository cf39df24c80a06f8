"""The options of FACTOR's part of `cogniload report`; its analysis takes them by their names."""

from cogniload_gen.parser import Parser, spellings


def add_report(report: Parser) -> None:
    """Add the options."""
    accuracies = "accuracies that FACTOR's fits take (default: 0.1 0.9)"
    ends = ("LOW", "HIGH")
    report.add_argument(
        *spellings("factor_range"), nargs=2, type=float, metavar=ends, help=accuracies
    )
    n_clean = "FACTOR's Neff of a clean context, which several attempts are to reach"
    report.add_argument(*spellings("factor_n_clean"), type=float, metavar="N", help=n_clean)

"""Print the figures of the product's source that docs/performance.md has.

Run ``python -m tests.support.source_figures``. All figures are over the product's modules without
migrations and without the generated client.
"""

import ast
import io
import statistics
import sys
import tokenize

from tests.support import source_tree


def private_share() -> float:
    """Return the percentage of module-level functions whose name begins with ``_``."""
    names = [
        node.name
        for path in source_tree.list_modules()
        for node in source_tree.parsed(path).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return 100 * sum(name.startswith("_") for name in names) / len(names)


def comment_shares() -> tuple[float, float]:
    """Return two percentages of the lines that are not blank.

    The first is of lines with a comment, the second of lines that are nothing but a comment.
    """
    n_lines = n_commented = n_only = 0
    for path in source_tree.list_modules():
        text = path.read_text()
        n_lines += sum(bool(line.strip()) for line in text.splitlines())
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                n_commented += 1
                n_only += token.line.lstrip().startswith("#")
    return 100 * n_commented / n_lines, 100 * n_only / n_lines


def main() -> None:
    """Print one line for each figure."""
    commented, only = comment_shares()
    lengths = [path.read_text().count("\n") for path in source_tree.list_modules()]
    sys.stdout.write(f"private functions of all module-level functions: {private_share():.1f} %\n")
    sys.stdout.write(
        f"lines with a comment: {commented:.1f} %; nothing but a comment: {only:.1f} %\n"
    )
    sys.stdout.write(
        f"lines of a module: median {statistics.median(lengths):.0f}, longest {max(lengths)}\n"
    )


if __name__ == "__main__":
    main()

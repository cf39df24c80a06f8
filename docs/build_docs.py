"""The documentation as HTML: `python docs/build_docs.py FOLDER`, or `make docs`.

The Markdown pages stand where they stand in the repository, the reference beside them in `api/`,
made by pdoc from the docstrings. A link between them, or to a place within one, that leads nowhere
is an error: exit code 1.
"""

import argparse
import html
import pkgutil
import posixpath
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from shutil import copyfile, rmtree
from urllib.parse import unquote, urlsplit

import markdown2
import pdoc

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "cogniload_gen",
    "cogniload_dataset",
    "cogniload_analysis",
    "lm_eval_tasks",
    "inspect_tasks",
    "reasoning_gym_tasks",
)
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; }}
pre {{ overflow: auto; padding: .8rem; background: #f4f4f4; }}
table {{ border-collapse: collapse; }} td, th {{ border: 1px solid #ccc; padding: .2rem .5rem; }}
</style></head>
<body>{body}</body>
</html>
"""

LINK = re.compile(r'(?<=href=")[^"]+')


def list_modules() -> Iterator[str]:
    """Yield the name of every module of the packages."""
    for package in PACKAGES:
        yield package
        root = import_module(package)
        for name in getattr(root, "__all__", ()):
            getattr(root, name)  # a name that is imported at its first use is not seen before
        path = getattr(root, "__path__", [])
        yield from (module.name for module in pkgutil.walk_packages(path, f"{package}."))


def list_pages() -> list[str]:
    """Return the Markdown files that git knows or would add, but for a card's template."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S603
    return [name for name in listed.splitlines() if (ROOT / name).is_file() and is_page(name)]


def is_page(name: str) -> bool:
    """Return whether a file is Markdown to read, and not a card's template."""
    return name.endswith(".md") and "/data/card" not in name


def render_page(name: str, out: Path, modules: Iterable[str]) -> None:
    """Write a Markdown file as HTML, with its links leading to what is beside it there."""
    extras = ["fenced-code-blocks", "tables", "header-ids", "cuddled-lists"]
    body = str(markdown2.markdown((ROOT / name).read_text("utf-8"), extras=extras))
    body = LINK.sub(lambda link: translate(html.unescape(link[0]), name, out, modules), body)
    write(out / name.replace(".md", ".html"), PAGE.format(title=html.escape(name), body=body))


def translate(link: str, page: str, out: Path, modules: Iterable[str]) -> str:
    """Return a page's link to a file of the repository as the link to what stands for it.

    That is a page for Markdown or a folder with a README, the reference for a module, and else a
    copy of the file.
    """
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not parts.path:
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), parts.path))
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    module = module_of(target)
    if (ROOT / target / "README.md").is_file():
        target += "/README.html"
    elif is_page(target):
        target = target.removesuffix(".md") + ".html"
    elif module in modules:
        target = f"api/{module.replace('.', '/')}.html"
    elif (ROOT / target).is_file():
        (out / target).parent.mkdir(parents=True, exist_ok=True)
        source = ROOT / target
        target += ".txt" if target.endswith(".html") else ""  # a template is no page
        copyfile(source, out / target)
    return posixpath.relpath(target, posixpath.dirname(page)) + anchor


def module_of(path: str) -> str:
    """Return the name of the module that a file, or a package's folder, is."""
    path = path.removeprefix("analysis/").removesuffix(".py").removesuffix("/__init__")
    return path.replace("/", ".")


def render_index(out: Path, pages: Iterable[str], modules: Iterable[str]) -> None:
    """Write `index.html`, which links to every page and every module with its first line."""
    links = [f'<li><a href="{name.replace(".md", ".html")}">{name}</a></li>' for name in pages]
    for module in modules:
        summary = html.escape((import_module(module).__doc__ or "").partition("\n")[0])
        address = f"api/{module.replace('.', '/')}.html"
        links.append(f'<li><a href="{address}"><code>{module}</code></a> {summary}</li>')
    body = f"<h1>CogniLoad</h1><ul>{''.join(links)}</ul>"
    write(out / "index.html", PAGE.format(title="CogniLoad", body=body))


def write(path: Path, text: str) -> None:
    """Write a file, in a folder that need not exist yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


class Anchors(HTMLParser):
    """What a page of HTML links to, and the places in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a link or a place."""
        for name, value in attrs:
            if name == "href" and tag == "a" and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def broken_links(folder: Path) -> list[str]:
    """Return the links within a folder of HTML files that lead nowhere, each with its page."""
    pages = {path: Anchors(path.read_text("utf-8")) for path in folder.resolve().rglob("*.html")}
    broken = []
    for page, anchors in pages.items():
        for link in anchors.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            places = pages[target].places if target in pages else {""}
            if not target.is_file() or unquote(parts.fragment) not in places:
                broken.append(f"{page.relative_to(folder.resolve())} links to {link}")
    return sorted(set(broken))


def build(out: Path) -> list[str]:
    """Write the documentation into a folder, in place of what it held; its broken links."""
    rmtree(out, ignore_errors=True)
    modules, pages = list(list_modules()), list_pages()
    pdoc.render.configure(docformat="google", show_source=False)
    with warnings.catch_warnings():
        # A package with __all__ hides its modules from pdoc, so that each is named; and an
        # annotation of `datasets` names types that it imports for type checkers alone.
        warnings.filterwarnings("ignore", ".* has already been added")
        warnings.filterwarnings("ignore", r"(?s).*cogniload_dataset\.EndlessExamples\.iter_arrow")
        pdoc.pdoc(*modules, output_directory=out / "api")
    for page in pages:
        render_page(page, out, modules)
    render_index(out, pages, modules)
    return broken_links(out)


def main(arguments: list[str] | None = None) -> int:
    """Build the documentation; the exit code is 1 if a link is broken."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where it is written")
    out = parser.parse_args(arguments).folder
    broken = build(out)
    for line in broken:
        print(line, file=sys.stderr)
    if not broken:
        print(out / "index.html")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())

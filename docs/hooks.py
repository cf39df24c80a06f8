"""What the documentation needs beside mkdocs.yml: other pages and the API reference.

Every page keeps its place in the repository, so that links between pages lead the same way on the
site, in an editor and on GitHub. A notebook is a page with the outputs that it holds. A link to a
module leads to its reference, and a link to another file to a copy of it.
"""

import posixpath
import re
import subprocess
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbconvert import MarkdownExporter

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<=\]\()(?!\w+:)([^)\s#]+)(#[^)\s]*)?(?=\))")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
PACKAGES = {
    "cogniload_gen", "cogniload_cli", "cogniload_dataset", "cogniload_analysis", "lm_eval_tasks",
    "inspect_tasks", "reasoning_gym_tasks", "verifiers_tasks",
}  # fmt: skip


def tracked() -> set[str]:
    """Return the files that git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8")  # noqa: S603
    return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def module_of(path: str) -> str:
    """Return the name of the module that a file of the repository is."""
    path = path.removeprefix("analysis/").removesuffix(".py").removesuffix("/__init__")
    return path.replace("/", ".")


def on_files(files: Files, config: Any) -> Files:
    """Return the pages of the whole repository, the files that they link to, and the reference."""
    names = tracked()
    pages = {name for name in names if name.endswith(".md") and "/data/card" not in name}
    prose = {name: CODE.sub("", (ROOT / name).read_text("utf-8")) for name in pages}
    linked = {target_of(name, match[1]) for name in pages for match in LINK.finditer(prose[name])}
    modules = {name for name in names if module_of(name).partition(".")[0] in PACKAGES}
    modules = {name for name in modules if name.endswith(".py")}
    site = [file for file in files if not file.src_uri.endswith((".md", ".py", ".svg", ".ipynb"))]
    notebooks = {name for name in names if name.endswith(".ipynb")}
    for name in sorted(notebooks):
        content, _ = MarkdownExporter().from_filename(str(ROOT / name))
        site.append(File.generated(config, f"{name[:-6]}.md", content=content))
    for name in sorted(pages | linked & names - modules - notebooks):
        site.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    for module in sorted(map(module_of, modules)):
        content = f"# {module}\n\n::: {module}\n"
        site.append(File.generated(config, f"api/{module}.md", content=content))
    return Files(site)


def target_of(page: str, link: str) -> str:
    """Return the file of the repository that a page's link leads to; a folder's README."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    return f"{target}/README.md" if (ROOT / target / "README.md").is_file() else target


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Return a page whose links lead to what stands for a file of the repository on the site."""

    def lead(match: re.Match[str]) -> str:
        target = re.sub(r"\.ipynb$", ".md", target_of(page.file.src_uri, match[1]))
        reference = f"api/{module_of(target)}.md"
        if target.endswith(".py") and files.get_file_from_path(reference):
            target = reference
        start = posixpath.dirname(page.file.src_uri)
        return posixpath.relpath(target, start or ".") + (match[2] or "")

    if page.file.src_uri.startswith("api/"):
        return markdown
    parts = CODE.split(markdown)
    return "".join(part if CODE.fullmatch(part) else LINK.sub(lead, part) for part in parts)

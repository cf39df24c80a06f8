"""The README's Python session prints what it says."""

import doctest
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_python_session_is_true():
    text = README.read_text(encoding="utf-8")
    session = "\n".join(part.split("```")[0] for part in text.split("```python\n")[1:])
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", None, 0)
    assert len(test.examples) > 5
    results = doctest.DocTestRunner().run(test)
    assert results.failed == 0

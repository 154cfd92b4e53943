"""Checks that what the documents name exists: files, links, and the functions in method.md."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCE = "\n".join(path.read_text() for path in sorted(ROOT.glob("tra/**/*")) if path.suffix in (".cc", ".h"))


def code(text):
    """Returns the words in backticks outside of code blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for document in DOCUMENTS:
            for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
                if "://" in target or target.startswith("#"):
                    continue
                path = document.parent / target.split("#")[0]
                self.assertTrue(path.exists(), f"{document.name} links to {target}")

    def test_files_that_are_named_exist(self):
        names = {path.name for folder in ("tra", "tests", "configs") for path in (ROOT / folder).rglob("*")}
        for document in DOCUMENTS:
            for word in code(document.read_text()):
                if not re.fullmatch(r"[\w+./-]+\.(cc|h|py|toml)", word) or word.startswith("/"):
                    continue
                folders = [ROOT, ROOT / "tra", document.parent, ROOT / "tra/model", ROOT / "configs"]
                found = any((folder / word).exists() for folder in folders)
                found = found or ("/" not in word and word in names) or word == "config.toml"
                self.assertTrue(found, f"{document.name} names {word}")

    def test_functions_of_the_method_exist(self):
        names = set()
        for word in code((ROOT / "docs/method.md").read_text()):
            if re.fullmatch(r"([A-Z][a-z]\w*)(::\w+)*", word):
                names.update(word.split("::"))
        self.assertGreater(len(names), 30)
        for name in sorted(names):
            self.assertRegex(SOURCE, rf"\b{name}\b", f"method.md names {name}")

    def test_attentions_of_the_method_are_all_there(self):
        table = re.findall(r'^      \{"(\w+)", ', (ROOT / "tra/model/attention/variants.cc").read_text(), flags=re.M)
        self.assertEqual(len(table), 9)
        words = set(code((ROOT / "docs/method.md").read_text()))
        for name in table:
            self.assertIn(name, words)

    def test_commands_of_the_readme_exist(self):
        program = os.environ["TRA_PROGRAM"]
        listed = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
        for command in re.findall(r"bin/tra (\w+)", (ROOT / "README.md").read_text()):
            self.assertRegex(listed, rf"\n  {command} ", f"README.md shows tra {command}")


if __name__ == "__main__":
    unittest.main()

"""Opens pages of tra in a real browser without a window, and fails if their script does: page_in_browser.py TRA RESULTS.

Ends with 77 where there is no chromium, which the test reports as skipped.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def open_page(browser, page, profile, *more):
    """Returns the page's elements after its script has run, and what the browser said."""
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
               "--disable-dev-shm-usage", f"--user-data-dir={profile}", "--enable-logging=stderr", "--log-level=0",
               "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=5000", *more, "--dump-dom", page.as_uri()]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return ended.stdout, ended.stderr


def check(browser, page, charts, folder):
    dom, said = open_page(browser, page, folder / "profile", "--window-size=390,800")
    console = [line for line in said.splitlines() if "CONSOLE" in line]
    assert not console, f"{page.name}: " + "\n".join(console)
    ready = re.search(r'data-ready="(\d+) charts, (\d+) heatmaps"', dom)
    assert ready, f"{page.name}: its script did not run to the end: {said[-2000:]}"
    assert int(ready[1]) == charts, f"{page.name}: {ready[1]} charts, not {charts}"
    assert dom.count('class="uplot') >= charts, f"{page.name}: a chart was not drawn"
    assert dom.count("is-live") >= charts


def main():
    tra, results = sys.argv[1:]
    browser = shutil.which("chromium")
    if not browser:
        print("chromium is not installed (scripts/setup.sh), so pages are not opened")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([tra, "report", f"{results}/two-cores/table1", "-o", folder / "report.html"], check=True)
        check(browser, folder / "report.html", 2, folder)
        subprocess.run([tra, "plot", f"{results}/small", "--chart", "lengths", "--out", folder / "lengths.html"], check=True)
        check(browser, folder / "lengths.html", 1, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

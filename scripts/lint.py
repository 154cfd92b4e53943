#!/usr/bin/python3
"""Checks formatting and runs static analysis. Exits non-zero on any finding.

    scripts/lint.py [FILE.cc...]   only these sources; all by default

A source that passed is not analysed again until it, or anything it includes, changes. Most of what clang-tidy does for one
source it does in the headers of LibTorch and GoogleTest, so sources that are compiled alike are analysed as one: their
texts, one after the other. Those whose names clash with another's come in a later group.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = TOP / "build/lint"
GROUP = 16  # Larger groups save little and clash more.


def run(command, **options):
    return subprocess.run(command, cwd=TOP, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def tracked(*patterns):
    return run(["git", "ls-files", *patterns]).stdout.split()


def read_commands():
    """Returns the words of the command that compiles each source, without the source and the object."""
    commands = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = os.path.relpath(os.path.join(entry["directory"], entry["file"]), TOP)
        words = shlex.split(entry["command"])
        del words[words.index("-o"):words.index("-o") + 2]
        while not re.search(r"(\+\+|g\+\+-\d+)$", words[0]):
            words.pop(0)  # A launcher such as ccache.
        commands[source] = tuple(word for word in words[1:] if word != "-c" and word != entry["file"])
    return commands


def make_stamp(source, words, settings):
    """What a source says once everything it includes is in it decides whether it was seen before."""
    text = run(["clang++", *words, "-Wno-unknown-warning-option", "-E", "-P", source]).stdout
    comments = (TOP / source).read_text()  # NOLINT stands in comments.
    return BUILD / "passed" / hashlib.sha256("\0".join([settings, text, comments]).encode()).hexdigest()


class Joined:
    """The texts of several sources in one file."""

    def __init__(self, sources, folder):
        self.path = BUILD / "groups" / folder / "joined.cc"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lines = []  # Where each line comes from.
        text = []
        for source in sources:
            lines = (TOP / source).read_text().splitlines(keepends=True)
            text += lines
            self.lines += [f"{TOP / source}:{number}" for number in range(1, len(lines) + 1)]
        self.path.write_text("".join(text))

    def name_sources(self, messages):
        return re.sub(re.escape(str(self.path)) + r":(\d+)", lambda match: self.lines[int(match[1]) - 1], messages)


def find_clashing(sources, words, folder):
    """Returns which of the sources to leave out, if all of them together do not compile."""
    joined = Joined(sources, folder)
    options = ["-Wno-everything", "-fsyntax-only", "-ferror-limit=0"]
    compiled = run(["clang++", *words, *options, str(joined.path)])
    if compiled.returncode == 0:
        return set()
    errors = joined.name_sources(compiled.stdout)
    named = {source for source in sources if re.search(re.escape(str(TOP / source)) + r":\d+:\d+: (fatal )?error", errors)}
    return named or set(sources[len(sources) // 2:])  # A name of one may also clash in a header that another includes.


def make_groups(sources, words, folder):
    """Yields groups of sources that compile as one. A source that is compiled for several targets stays alone."""
    alone = [source for source in sources if "foreach_target" in (TOP / source).read_text()]
    yield from ([source] for source in alone)
    waiting = [source for source in sources if source not in alone]
    while waiting:
        group, waiting = waiting[:GROUP], waiting[GROUP:]
        while len(group) > 1 and (clashing := find_clashing(group, words, folder)):
            clashing.discard(group[0])
            if not clashing:  # The first one's errors are caused by what follows it.
                clashing = set(group[1:])
            waiting = [source for source in group if source in clashing] + waiting
            group = [source for source in group if source not in clashing]
        yield group


def analyse(group, words, folder, stamps):
    """Returns what clang-tidy says of a group, and stamps the sources that it says nothing of."""
    joined = Joined(group, folder)
    path = TOP / group[0] if len(group) == 1 else joined.path
    result = run(["clang-tidy", "--quiet", str(path), "--", *words])
    findings = joined.name_sources(result.stdout) if result.returncode else ""
    named = [source for source in group if f"{TOP / source}:" in findings]
    for source in group:
        if not findings or (named and source not in named):
            stamps[source].touch()
    return findings


def analyse_alike(number, sources, words, stamps):
    """Prints what clang-tidy says of sources that are compiled alike, and returns whether it says anything."""
    found = False
    for group in make_groups(sources, words, str(number)):
        findings = analyse(group, words, str(number), stamps)
        found = found or bool(findings)
        print(f"lint: {len(group)} sources from {group[0]}", findings, sep="\n" if findings else "", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", help="only these sources")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="analyses at a time")
    options = parser.parse_args()

    formatted = run(["clang-format", "--dry-run", "-Werror", *tracked("*.cc", "*.h")])
    # clang cannot read the compiler's precompiled headers, so it gets commands without them.
    configured = run(["cmake", "--preset", "release", "-B", str(BUILD), "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"])
    generated = run(["cmake", "--build", str(BUILD), "--target", "tra_revision"])  # revision.h, which a source includes
    for result in (formatted, configured, generated):
        if result.returncode:
            sys.exit(result.stdout)
    (BUILD / "passed").mkdir(parents=True, exist_ok=True)
    commands = read_commands()
    settings = run(["clang-tidy", "--version"]).stdout + (TOP / ".clang-tidy").read_text()

    # Outside projects (tests/consumer) are not in the compilation database.
    sources = options.sources or [source for source in tracked("*.cc") if not source.startswith("tests/consumer/")]
    for source in sources:
        if source not in commands:
            print(f"lint: {source} is not part of the build, and not analysed", file=sys.stderr)
    sources = [source for source in sources if source in commands]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made = pool.map(lambda source: make_stamp(source, commands[source], settings), sources)
        stamps = dict(zip(sources, made))
        alike = {}
        for source in sources:
            if not stamps[source].exists():
                alike.setdefault(commands[source], []).append(source)
        largest_first = sorted(alike.items(), key=lambda item: -len(item[1]))
        found = pool.map(lambda part: analyse_alike(part[0], part[1][1], part[1][0], stamps), enumerate(largest_first))
        sys.exit(1 if any(list(found)) else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""try_page.py PAGE FOLDER: does what a page tells its reader to do, in a copy of the tree in FOLDER.

Before each code block of the page stands a comment, which readers do not see, with what becomes of the block:

    <!-- test: write PATH -->                     it is that file
    <!-- test: insert into PATH before TEXT -->   it goes before the one line of that file which has the text
    <!-- test: append to PATH -->                 it goes to the end of that file
    <!-- test: run -->                            it is commands, run in the tree, of which none may fail
    <!-- test: run, with NEW for OLD -->          the same, where the reader's own would take minutes
    <!-- test: not run: REASON -->

A block without one fails. <name of the page>.before.sh beside this file, if it is there, makes what the reader has;
<name of the page>.after.sh tries what came of it. The environment has MONOMORPH_SOURCE_DIR and MONOMORPH_BINARY_DIR, and
CMake takes the compiler from it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
COMMENT = re.compile(r" *<!-- test: (.*) -->$")
FENCE = re.compile(r"( *)```")
COPIED = ["cmake", "docs", "include", "recipes", "tests/compile_fail", "tests/support", "CMakePresets.json"]


class Block:
    """A code block: where it stands, what its comment says (None if there is none), and its text."""

    def __init__(self, place, comment, text):
        self.place, self.comment, self.text = place, comment, text


def blocks_of(page):
    """The fenced blocks of a page. Code by indentation alone would be overlooked, so there may be none."""
    lines = page.read_text().splitlines()
    blocks, number = [], 0
    while number < len(lines):
        place = f"{page.name}:{number + 1}"
        fence = FENCE.match(lines[number])
        if not fence:
            if re.match(r" {4,}\S", lines[number]):
                sys.exit(f"{place}: a code block by indentation; fence it with ```")
            number += 1
            continue
        comment = COMMENT.match(lines[number - 1]) if number else None
        end = next(i for i in range(number + 1, len(lines)) if lines[i].strip() == "```")
        text = "".join(line[len(fence[1]):] + "\n" for line in lines[number + 1:end])
        blocks.append(Block(place, comment and comment[1], text))
        number = end + 1
    return blocks


def run(script, tree, place):
    print(f"== {place}\n{script}", flush=True)
    if subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tree).returncode != 0:
        sys.exit(f"{place}: this failed")


def insert(block, path, text):
    lines = path.read_text().splitlines(keepends=True)
    found = [i for i, line in enumerate(lines) if text in line]
    if len(found) != 1:
        sys.exit(f"{block.place}: {path} has {len(found)} lines with {text!r} and not one")
    lines.insert(found[0], block.text)
    path.write_text("".join(lines))


def run_instead(block, tree, replacement):
    new, old = replacement.split(" for ")
    if old not in block.text:
        sys.exit(f"{block.place}: {old!r} is not in the block")
    run(block.text.replace(old, new), tree, block.place)


def write(path, text, mode="w"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, mode) as file:
        file.write(text)


def do(block, tree):
    """What the comment says, by the first pattern that fits."""
    actions = {
        r"write (\S+)": lambda path: write(tree / path, block.text),
        r"append to (\S+)": lambda path: write(tree / path, block.text, "a"),
        r"insert into (\S+) before (.+)": lambda path, text: insert(block, tree / path, text),
        r"run": lambda: run(block.text, tree, block.place),
        r"run, with (.+ for .+)": lambda replacement: run_instead(block, tree, replacement),
        r"not run: .+": lambda: print(f"== {block.place}: {block.comment}"),
    }
    for pattern, action in actions.items():
        if found := re.fullmatch(pattern, block.comment or ""):
            return action(*found.groups())
    sys.exit(f"{block.place}: a code block that nothing tries; say before it what becomes of it, as {pathlib.Path(__file__).name} has it")


def make_tree(tree):
    """The parts of the sources that a page changes or reads, with a build that compiles recipes only."""
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(HERE / "tree", tree)
    sources = pathlib.Path(os.environ["MONOMORPH_SOURCE_DIR"])
    for name in COPIED:
        if (sources / name).is_dir():
            shutil.copytree(sources / name, tree / name)
        else:
            shutil.copy(sources / name, tree / name)
    (tree / "data").symlink_to(sources / "data")


def main():
    page, tree = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    make_tree(tree)
    programs = os.environ["MONOMORPH_BINARY_DIR"]
    os.environ.update(monomorph_DIR=programs, PATH=programs + os.pathsep + os.environ["PATH"])
    before, after = (HERE / f"{page.stem}.{moment}.sh" for moment in ("before", "after"))
    if before.exists():
        run(before.read_text(), tree, before.name)
    for block in blocks_of(page):
        do(block, tree)
    if after.exists():
        run(after.read_text(), tree, after.name)


main()

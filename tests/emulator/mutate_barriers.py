#!/usr/bin/env python3
"""mutate_barriers.py <build folder> [--report FILE] [--jobs N] [--only TEXT]: do the emulator's tests notice each barrier?

Deletes each barrier of src/runtime/cuda in turn, from a copy of its file, and one of a header in each of the sources that
include it in turn, as every kernel needs it for itself. Compiles that source, and runs emulator_kernels and then emulator_races
with it until a test fails. Sources and build folder stay as they are; the folder must have been built with the preset cpu.
Prints a table, writes it to FILE if one is named, and ends with 1 if a barrier is not missed: then a test is missing, or the
barrier does nothing. Takes an hour of processor time (docs/why/emulator.md).
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ROOT / "src/runtime/cuda"
# Programs in the order in which they are asked, with the libraries of kernels that they are linked from.
PROGRAMS = {"emulator_kernels": "emulated_kernels", "emulator_races": "raced_kernels"}
IN_OTHER_PROGRAMS = {"races_test", "transfers_test"}
BARRIER = re.compile(r"__sync(?:threads|warp)(?:_or|_and|_count)?\(")
LIMIT_S = 1200


class Mutant:
    """A barrier of a file, the file's text without it, and the source whose kernels get that text."""

    def __init__(self, path, source, text, begin, end):
        inside = text[text.index("(", begin) + 1:end - 1]
        self.path, self.source, self.line = path, source, text.count("\n", 0, begin) + 1
        self.barrier = text[begin:end]
        # A barrier that collects something leaves each thread with its own part.
        self.text = text[:begin] + (f"int({inside})" if inside else "") + text[end:]

    def name(self):
        place = f"{self.path.name}:{self.line}"
        return place if self.source == self.path else f"{place} in {self.source.name}"


def mutants_of(path, sources):
    text = path.read_text()
    for match in BARRIER.finditer(text):
        if "//" in text[text.rfind("\n", 0, match.start()) + 1:match.start()]:
            continue
        end, depth = match.end(), 1
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        for source in sources:
            yield Mutant(path, source, text, match.start(), end)


class Build:
    """How the build folder makes the emulator's programs."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        self.compilations = json.loads((self.folder / "compile_commands.json").read_text())
        for compilation in self.compilations:
            compilation["output"] = re.search(r" -o (\S+) ", compilation["command"])[1]
        self.links = {program: self.link_of(program) for program in PROGRAMS}
        self.included = {pathlib.Path(compilation["file"]): self.files_of(compilation["output"])
                         for compilation in self.compilations_of(PROGRAMS["emulator_kernels"])}

    def ninja(self, tool, target):
        return subprocess.run(["ninja", "-C", self.folder, "-t", tool, target], check=True, capture_output=True,
                              text=True).stdout

    def files_of(self, output):
        """What a compilation has read, as ninja has noted it: by paths from the build folder on, or whole ones."""
        _, *files = self.ninja("deps", output).splitlines()
        return {pathlib.Path(os.path.normpath(self.folder / file.strip())) for file in files if file.strip()}

    def sources_of(self, path):
        """The sources of kernels that a file is part of."""
        return sorted(source for source, files in self.included.items() if path in files)

    def link_of(self, program):
        """Without what is done behind it, such as asking the program for its tests."""
        parts = self.ninja("commands", program).splitlines()[-1].split(" && ")
        return next(part for part in parts if f" -o {program} " in part)

    def compilations_of(self, library):
        for compilation in self.compilations:
            if f"/{library}.dir/" in compilation["output"] and compilation["file"].startswith(str(KERNELS)):
                yield compilation

    def make(self, program, mutant, place):
        """The program with a mutant, in a folder that has the mutant's file under its path; None if its source does not use the
        barrier, so that it has the same instructions without."""
        compilation = next(c for c in self.compilations_of(PROGRAMS[program]) if c["file"] == str(mutant.source))
        mutated = place / (mutant.source.name + f".{program}.o")
        command = compilation["command"].replace(compilation["output"], str(mutated))
        # Includes name files from src/ on, so that a folder before it takes its place.
        command = command.replace(f" -I{ROOT / 'src'} ", f" -I{place / 'src'} -I{ROOT / 'src'} ")
        command = command.replace(f" -c {mutant.path}", f" -c {place / 'src' / mutant.path.relative_to(ROOT / 'src')}")
        run(command, compilation["directory"])
        if instructions_of(mutated) == instructions_of(self.folder / compilation["output"]):
            return None
        link = self.links[program].replace(f"-o {program} ", f"-o {place / program} ")
        run(link.replace(compilation["output"], str(mutated)), self.folder)
        return place / program


def instructions_of(object_file):
    """Without the addresses of what they refer to, as the object's text has a place in them that is filled in later."""
    listing = subprocess.run(["objdump", "-d", object_file], check=True, capture_output=True, text=True).stdout
    return listing.splitlines()[3:]  # the first lines name the file


def run(command, folder):
    result = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"mutate_barriers.py: {shlex.split(command)[0]} fails: {result.stderr[-2000:]}")


def words_of(name):
    return {word.removesuffix("s") for word in name.split("_")}


def tests_near(source):
    """The tests, as Catch2 is asked for them, whose files name a source, or share a word of their names with it or its folder.
    They are soon done, and most barriers are missed there."""
    words = words_of(source.stem) | words_of(source.parent.name)
    files = [path.stem for path in sorted(pathlib.Path(__file__).parent.glob("*_test.cpp"))
             if path.stem not in IN_OTHER_PROGRAMS and
             (words & words_of(path.stem.removesuffix("_test")) or source.stem in path.read_text())]
    return ["--filenames-as-tags", ",".join(f"[#{name}]" for name in files)] if files else []


def failure_of(program, *tests):
    """The test that a program fails first and why, or None."""
    try:
        result = subprocess.run([program, "--abort", *tests], capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return "", f"it does not end within {LIMIT_S} s"
    if result.returncode == 0:
        return None
    # Catch2 prints a line of dashes, the test's name, and another.
    name = re.search(r"^-{70,}\n(.*?)^-{70,}", result.stdout, re.MULTILINE | re.DOTALL)
    fault = re.search(r"a (?:barrier|meeting of lanes) that not all reach", result.stdout)
    why = fault[0] if fault else "a race" if program.name == "emulator_races" else "a wrong result"
    return " ".join(name[1].split()) if name else "", why


UNUSED = "not used"


def notice(build, mutant):
    """The program, the test and the reason by which a mutant is noticed; None if it is not; UNUSED if it is none."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        copy = place / "src" / mutant.path.relative_to(ROOT / "src")
        copy.parent.mkdir(parents=True)
        copy.write_text(mutant.text)
        for program in PROGRAMS:
            made = build.make(program, mutant, place)
            if made is None:
                return UNUSED
            near = tests_near(mutant.source) if program == "emulator_kernels" else []
            if failure := (near and failure_of(made, *near)) or failure_of(made):
                return program, *failure
    return None


def table_of(mutants, notices):
    lines = ["| barrier | what is deleted | noticed by | test | as |", "|---|---|---|---|---|"]
    for mutant, noticed in zip(mutants, notices, strict=True):
        program, test, why = noticed or ("**nothing**", "", "")
        lines.append(f"| {mutant.name()} | `{mutant.barrier}` | {program} | {test} | {why} |")
    n = sum(noticed is not None for noticed in notices)
    lines += ["", f"{n} of {len(mutants)} are noticed ({100 * n / len(mutants):.0f} %)."]
    return "\n".join(lines)


def report_of(table, file):
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return (f"# Barriers of the kernels for GPUs, each deleted in turn\n\n{datetime.date.today()}, commit {commit}. "
            f"`tests/emulator/mutate_barriers.py build/cpu --report {file}` repeats it.\n\n{table}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="barriers whose file and line have this text")
    arguments = parser.parse_args()
    build = Build(arguments.build)
    for program in PROGRAMS:
        if failure := failure_of(build.folder / program):
            sys.exit(f"mutate_barriers.py: {program} fails without a mutant ({failure}); mend it first")
    files = sorted([*KERNELS.glob("**/*.cu"), *KERNELS.glob("**/*.hpp")])
    candidates = [mutant for path in files for mutant in mutants_of(path, build.sources_of(path))
                  if arguments.only in mutant.name()]
    mutants, notices = [], []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for mutant, noticed in zip(candidates, pool.map(lambda mutant: notice(build, mutant), candidates)):
            print(mutant.name(), noticed or "IS NOT NOTICED", flush=True)
            if noticed != UNUSED:
                mutants.append(mutant)
                notices.append(noticed)
    table = table_of(mutants, notices)
    print(table)
    if arguments.report:
        arguments.report.write_text(report_of(table, arguments.report))
    sys.exit(0 if all(notices) else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""product_table.py <program for CPUs> <program for GPUs> <hyperparameters> <table>: a run on a GPU that goes on with another
table of product algorithms (MONOMORPH_PRODUCT_TABLE) says so once, one that goes on with the same table says nothing, and a
file that is no table ends a run in one line before it leaves anything behind. Ends with 1 and a line if it is not so."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import train_equally  # noqa: E402

VARIABLE = "MONOMORPH_PRODUCT_TABLE"
OTHER_TABLE = "its products were computed by another table of algorithms: bits may differ"
OTHER_PLACE = "the table of product algorithms has none for this GPU"


def fail(line):
    sys.exit(f"product_table.py: {line}")


class Runs:
    """Runs of one program with tables of this test's."""

    def __init__(self, program, hparams, folder):
        self.program, self.hparams, self.folder = program, hparams, folder
        self.data = folder / "train.pbin"
        train_equally.write_tokens(self.data)

    def call(self, output, table, *settings):
        """@param table a path; None: the table that is built in"""
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        if table is not None:
            environment[VARIABLE] = str(table)
        command = train_equally.command(self.program, self.hparams, self.data, output, *settings)
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    def train(self, output, table, *settings):
        """What the run says on both streams."""
        result = self.call(output, table, *settings)
        if result.returncode != 0:
            fail(f"a run with {table} must end well, and says {result.stderr}")
        return result.stdout + result.stderr

    def notes_of_second_half(self, run, table):
        """How often the run says that its table is another one, when it goes on from its middle."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            half = train_equally.without_second_half(run, pathlib.Path(name) / "run")
            return self.train(half, table, "checkpoint.resume=auto").count(OTHER_TABLE)


def check_notes(runs, lines):
    """Tables with entries for another version of cuBLASLt: the bits stay, and so does what is said of them."""
    def table(name, text):
        (runs.folder / name).write_text(text)
        return runs.folder / name

    one, other = table("one", "".join(lines[:2])), table("other", lines[0])
    with_one = runs.folder / "with one"
    said = runs.train(with_one, one)
    if OTHER_TABLE in said or said.count(OTHER_PLACE) != 1:
        fail(f"a first run must say once that its table is of another place, and says {said}")
    same = {"the same table": one, "the same lines in another order": table("order", f"# a note\n\n{lines[1]}{lines[0]}")}
    for what, file in same.items():
        if notes := runs.notes_of_second_half(with_one, file):
            fail(f"a run that goes on with {what} says {notes} times that it is another one")
    for what, file in {"another table": other, "the table that is built in": None, "an empty table": table("empty", "")}.items():
        if (notes := runs.notes_of_second_half(with_one, file)) != 1:
            fail(f"a run that goes on with {what} must say so once, and says it {notes} times")
    # What goes on with a table has it from then on.
    steps = f"run.steps={train_equally.STEPS + 1}"
    if OTHER_TABLE not in runs.train(with_one, other, "checkpoint.resume=auto", steps):
        fail("a run that goes on with another table must say so")
    steps = f"run.steps={train_equally.STEPS + 2}"
    if OTHER_TABLE in runs.train(with_one, other, "checkpoint.resume=auto", steps):
        fail("a run that goes on with the table that it has gone on with before must not call it another one")


def check_refusals(runs, lines):
    folder = runs.folder
    texts = {"truncated": (lines[0] + lines[1][:-20], "GPU-07", "line 2 does not end with its checksum"),
             "edited": (lines[0].replace("adds=0", "adds=1"), "GPU-07", "line 1 does not end with its checksum"),
             "twice": (lines[0] * 2, "GPU-07", "line 2 has a product that an earlier one has, too"),
             "no table": ("\0\xff{}\n", "GPU-07", "line 1 does not end with its checksum"),
             "huge": ("#\n" * (9 << 20), "FILE-05", "holds more than the 16777216 bytes")}
    cases = {folder / name: expected for name, (text, *expected) in texts.items()
             if (folder / name).write_text(text, encoding="latin-1")}
    (folder / "a folder").mkdir()
    cases |= {folder / "a folder": ("FILE-04", "is a folder"), folder / "missing": ("FILE-01", "No such file"),
              "": ("FILE-01", "No such file")}
    for table, (error, why) in cases.items():
        result = runs.call(folder / "refused", table)
        said = result.stderr.splitlines()
        if result.returncode != 2 or len(said) != 1 or f"[{error}]" not in said[0] or why not in said[0] or VARIABLE not in said[0]:
            fail(f"{table!r} must end a run with 2 and one line of {error}, '{why}' and {VARIABLE}, and ends it with "
                 f"{result.returncode}: {result.stderr}")
        if (folder / "refused").exists():
            fail(f"a run that is refused, as its table is {table!r}, must leave nothing behind")


def main():
    _, gpu, hparams, built_in = sys.argv[1:]
    lines = [line for line in pathlib.Path(built_in).read_text().splitlines(keepends=True) if line.startswith("sm")]
    with tempfile.TemporaryDirectory() as name:
        runs = Runs(gpu, hparams, pathlib.Path(name))
        check_refusals(runs, lines)
        check_notes(runs, lines)


main()

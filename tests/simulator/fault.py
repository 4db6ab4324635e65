#!/usr/bin/env python3
"""fault.py <program for CPUs> <program for GPUs> <hyperparameters>: wherever a GPU fails before, in and behind the save of a
checkpoint, whether steps wait for it or not and whatever checkpoint.on_failure says, the program ends with one line, the
checkpoint is there whole or not at all, and the run goes on from what is there, on a CPU. Ends with 1 and a line if that is
not so."""
import bisect
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import train_equally  # noqa: E402

SAVED = train_equally.STEPS // 2  # the step whose checkpoint is saved first
MOST_OPERATIONS = 1 << 16


def fail(line):
    sys.exit(f"fault.py: {line}")


class FailedRuns:
    """Of a GPU of which one operation fails, the n-th of a run."""

    def __init__(self, gpu, hparams, data, folder, async_save, on_failure):
        self.words = [gpu, hparams, data]
        self.folder = folder
        self.way = f"{async_save}_{on_failure}"
        self.settings = [f"checkpoint.async_save={async_save}", f"checkpoint.on_failure={on_failure}"]
        self.operations = set()  # that have failed, each in a run of its own

    def output(self, operation):
        """The folder of such a run, which ends as it must."""
        output = self.folder / f"{self.way}_{operation}"
        if operation in self.operations:
            return output
        self.operations.add(operation)
        failed = subprocess.run(
            train_equally.command(*self.words, output, *self.settings), capture_output=True, text=True,
            env={**os.environ, "MONOMORPH_SIMULATOR_FAULT": str(operation)})
        lines = failed.stderr.splitlines()
        if failed.returncode != 1 or len(lines) != 1 or "[GPU-02]" not in lines[0] or \
                "illegal memory access" not in lines[0] or "[GPU-02]" in failed.stdout:
            fail(f"with {self.settings} a fault at operation {operation} must end the run with 1 and one line, and it ends "
                 f"with {failed.returncode}: {failed.stdout[-500:]}{failed.stderr}")
        return output

    def takes_steps(self, operation):
        return len(train_equally.records(self.output(operation))) >= SAVED

    def has_checkpoint(self, operation):
        """Of the step, whole, as far as names tell; and of no other one, nor a part of one."""
        found = sorted(path.name for path in (self.output(operation) / "checkpoints").glob("*"))
        if found not in ([], [f"step_{SAVED:08}"]):
            fail(f"a fault at operation {operation} leaves {found}")
        return found != []

    def first_behind_save(self):
        """The first operation whose fault leaves the checkpoint, as any behind it does."""
        high = 2048
        while not self.has_checkpoint(high):
            high *= 2
            if high > MOST_OPERATIONS:
                fail(f"there are no {SAVED} steps and a checkpoint in {MOST_OPERATIONS} operations")
        return bisect.bisect_left(range(high), True, high // 2, high, key=self.has_checkpoint)


def main():
    cpu, gpu, hparams = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "train.pbin"
        train_equally.write_tokens(data)
        on_cpu = train_equally.train(cpu, hparams, data, folder / "cpu")
        runs = [FailedRuns(gpu, hparams, data, folder, async_save, on_failure)
                for async_save, on_failure in (("off", "error"), ("on", "error"), ("on", "continue"))]
        end = runs[0].first_behind_save()
        tried = sorted(runs[0].operations)
        before = [operation for operation in tried if not runs[0].takes_steps(operation)]
        within = [operation for operation in tried if runs[0].takes_steps(operation) and operation < end]
        if not before or not within:
            fail(f"faults at operations {tried} must come before a save and in it, which ends before operation {end}")
        for run in runs:
            for operation in (before[-1], within[0], end - 1, end):
                if run.has_checkpoint(operation) != (operation >= end):
                    fail(f"with {run.settings}, too, the checkpoint must be there from a fault at operation {end} on, and at "
                         f"{operation} it is otherwise")
                resumed = train_equally.train(cpu, hparams, data, run.output(operation), "checkpoint.resume=auto")
                difference = train_equally.worst(resumed, on_cpu, "loss")
                if difference > 1e-6:
                    fail(f"the run that goes on after a fault at operation {operation} differs from one on a CPU by "
                         f"{difference}")


main()

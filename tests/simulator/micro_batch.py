#!/usr/bin/env python3
"""micro_batch.py <program for CPUs> <program for GPUs> <hyperparameters>: batch.micro_batch=auto on a GPU is the largest that
divides the batch and fits, the next smaller one if the GPU refuses the memory, and what a checkpoint's run had where one is
resumed. Ends with 1 and a line if it is not."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import train_equally  # noqa: E402

STEPS = 2
# By default a GPU of 1 GiB has some 300 MiB for activations of half a MiB for each sequence.
BATCH = 12


def run(program, hparams, data, output, *settings, refusal=None):
    """The micro-batch of a run, and the line that tells why."""
    environment = {**os.environ, **({} if refusal is None else {"MONOMORPH_SIMULATOR_REFUSAL": str(refusal)})}
    command = train_equally.command(program, hparams, data, output, f"batch.global_batch={BATCH}", f"run.steps={STEPS}",
                                    "schedule.warmup_steps=0", *settings)
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        return result.returncode, result.stderr
    line = re.search(r"batch\.micro_batch = (\d+) \(auto: (.*)\)", result.stdout)
    chosen = json.loads((output / "hparams.json").read_text())["batch"]["micro_batch"]
    if line and int(line[1]) != chosen:
        sys.exit(f"micro_batch.py: the log says {line[1]}, and hparams.json {chosen}")
    return chosen, line[2] if line else ""


def expect(what, found, number, reason):
    if found[0] != number or reason not in found[1]:
        sys.exit(f"micro_batch.py: {what} must give {number} and say {reason!r}, and gives {found}")


def main():
    cpu, gpu, hparams = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "train.pbin"
        train_equally.write_tokens(data)
        automatic = "batch.micro_batch=auto"
        expect("a GPU", run(gpu, hparams, data, folder / "gpu", automatic), 12, "of the device's memory that are free")
        expect("a CPU", run(cpu, hparams, data, folder / "cpu", automatic), 6, "are 8 or fewer")
        expect("a GPU that refuses", run(gpu, hparams, data, folder / "refused", automatic, refusal=0), 6,
               "as the memory for 12 was refused")
        expect("a number that is refused", run(gpu, hparams, data, folder / "given", "batch.micro_batch=4", refusal=0), 2,
               "[GPU-05]")
        expect("a number that is too large", run(gpu, hparams, data, folder / "large", "batch.global_batch=16384",
                                                 "batch.micro_batch=16384"), 2, "; change batch.micro_batch to ")
        if (folder / "given").exists() or (folder / "large").exists():
            sys.exit("micro_batch.py: a run that is refused must leave nothing behind")
        longer = (automatic, f"run.steps={STEPS + 1}", "checkpoint.resume=auto")
        expect("a resumed run", run(gpu, hparams, data, folder / "refused", *longer), 6, "the checkpoint's run")
        expect("one resumed elsewhere", run(cpu, hparams, data, folder / "gpu", *longer), 12, "the checkpoint's run")


main()

#!/usr/bin/env python3
"""micro_batch.py <program for CPUs> <program for GPUs> <hyperparameters>: batch.micro_batch=auto on a GPU is the largest that
divides the batch and fits, the next smaller one if the GPU refuses the memory, be it the arena's or what kernels keep
beside it, and what a checkpoint's run had where one is resumed. Ends with 1 and a line if it is not."""
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
# What a step is made of, in the order in which it is taken: how the refusal of each begins.
OF_STEP = (r"\[GPU-05\] the plan's [^ ]+ [KMG]iB of the GPU's memory must be free, and ",
           r"\[GPU-05\] [^ ]+ [KMG]iB of the GPU's memory must be free for the workspace of kernels, and ",
           r"\[GPU-05\] [^ ]+ [KMG]iB of the GPU's memory must be free for token ids, and ",
           r"\[GPU-06\] [^ ]+ [KMG]iB of the host's memory must be free for CUDA to keep token ids in place, and ")
# Behind it, of each of the two parts of a recorded step: what it is told, and twice what it is told from.
N_OF_RECORDING = 6


def run(program, hparams, data, output, *settings, refusal=None, refused_kernel=None):
    """The micro-batch of a run, and the lines that tell why, and that its steps are not recorded; or its exit code and error."""
    refused = {"MONOMORPH_SIMULATOR_REFUSAL": refusal, "MONOMORPH_SIMULATOR_REFUSED_KERNEL": refused_kernel}
    environment = {**os.environ, **{name: str(n) for name, n in refused.items() if n is not None}}
    command = train_equally.command(program, hparams, data, output, f"batch.global_batch={BATCH}", f"run.steps={STEPS}",
                                    "schedule.warmup_steps=0", *settings)
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        return result.returncode, result.stderr
    line = re.search(r"batch\.micro_batch = (\d+) \(auto: (.*)\)", result.stdout)
    chosen = json.loads((output / "hparams.json").read_text())["batch"]["micro_batch"]
    if line and int(line[1]) != chosen:
        sys.exit(f"micro_batch.py: the log says {line[1]}, and hparams.json {chosen}")
    unrecorded = re.search(r"steps are not recorded: .*", result.stdout)
    return chosen, "; ".join(([line[2]] if line else []) + ([unrecorded[0]] if unrecorded else []))


def expect(what, found, number, reason):
    if found[0] != number or reason not in found[1]:
        sys.exit(f"micro_batch.py: {what} must give {number} and say {reason!r}, and gives {found}")


def expect_refusal(what, found, beginning, change, code=2):
    """One line, with the plan's parts and a change."""
    ended, error = found
    if (ended != code or len(error.splitlines()) != 1 or not re.search(beginning, error) or
            "; the largest parts of the plan are " not in error or f"; {change}" not in error):
        sys.exit(f"micro_batch.py: a run to which {what} is refused must end with {code} and a line of {beginning!r}, the plan's parts and "
                 f"{change!r}, and gives {found}")


def check_refusals(gpu, hparams, data, folder):
    """Each allocation of a step is refused in turn: to a micro-batch that was chosen, and to one that was given."""
    for n, beginning in enumerate(OF_STEP):
        expect(f"a GPU that refuses allocation {n}", run(gpu, hparams, data, folder / f"refused_{n}", "batch.micro_batch=auto", refusal=n),
               6, "as the memory for 12 was refused")
        output = folder / f"given_{n}"
        refused = run(gpu, hparams, data, output, "batch.micro_batch=4", refusal=n)
        expect_refusal(f"allocation {n}", refused, beginning,
                       "change batch.micro_batch to 3, which fits" if "GPU-05" in beginning else "lower batch.micro_batch, or ")
        if output.exists():
            sys.exit("micro_batch.py: a run that is refused must leave nothing behind")
    behind = len(OF_STEP) + N_OF_RECORDING
    recorded = ("batch.micro_batch=auto", "log.every=100")  # a step whose kernels are timed for the log is not
    for n in range(len(OF_STEP), behind):
        expect(f"a recording that is refused allocation {n}",
               run(gpu, hparams, data, folder / f"unrecorded_{n}", *recorded, refusal=n), 12, "steps are not recorded: [GPU-0")
    last = run(gpu, hparams, data, folder / "behind", *recorded, refusal=behind)
    if last[0] != 12 or "not recorded" in last[1]:
        sys.exit(f"micro_batch.py: a run takes more memory than this test knows of: {last}")
    # The code of a kernel comes to a GPU when that is first started: where a step is made, or in the first one.
    expect("a GPU without memory for its first kernel",
           run(gpu, hparams, data, folder / "first_kernel", "batch.micro_batch=auto", refused_kernel=0), 6, "as the memory for 12 was refused")
    expect_refusal("a kernel", run(gpu, hparams, data, folder / "kernel", "batch.micro_batch=4", refused_kernel=100),
                   r"\[GPU-05\] the GPU has no memory left for the code of a kernel ", "change batch.micro_batch to 3, which fits", code=1)
    if not (folder / "kernel").exists():
        sys.exit("micro_batch.py: the kernel that is refused must be one of the first step")


def main():
    cpu, gpu, hparams = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "train.pbin"
        train_equally.write_tokens(data)
        automatic = "batch.micro_batch=auto"
        expect("a GPU", run(gpu, hparams, data, folder / "gpu", automatic), 12, "of the device's memory that are free")
        expect("a CPU", run(cpu, hparams, data, folder / "cpu", automatic), 6, "are 8 or fewer")
        check_refusals(gpu, hparams, data, folder)
        expect("a number that is too large", run(gpu, hparams, data, folder / "large", "batch.global_batch=16384",
                                                 "batch.micro_batch=16384"), 2, "; change batch.micro_batch to ")
        if (folder / "large").exists():
            sys.exit("micro_batch.py: a run that is refused must leave nothing behind")
        longer = (automatic, f"run.steps={STEPS + 1}", "checkpoint.resume=auto")
        expect("a resumed run", run(gpu, hparams, data, folder / "refused_0", *longer), 6, "the checkpoint's run")
        expect("one resumed elsewhere", run(cpu, hparams, data, folder / "gpu", *longer), 12, "the checkpoint's run")


main()

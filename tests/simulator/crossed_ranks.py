#!/usr/bin/env python3
"""crossed_ranks.py <program for CPUs> <program for GPUs> <hyperparameters> <tolerance>: a checkpoint of one simulated GPU is
gone on from by two and one of two by one, with the bits of either alone, as gradients are added up in the fixed tree. One of
a CPU is gone on from by two GPUs, one of two GPUs by two ranks on CPUs. Ends with 1 and a line if that is not so."""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import train_equally  # noqa: E402
from train_equally import kept, resume, tensors, train  # noqa: E402


def fail(line):
    sys.exit(f"crossed_ranks.py: {line}")


def main():
    cpu, gpu, hparams, tolerance = sys.argv[1:]
    os.environ["MONOMORPH_SIMULATOR_GPUS"] = "2"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "train.pbin"
        train_equally.write_tokens(data)
        on_cpu = train(cpu, hparams, data, folder / "cpu")
        on_one = kept(train(gpu, hparams, data, folder / "one"))
        state = tensors(folder / "one")
        same = {"two": kept(train(gpu, hparams, data, folder / "two", ranks=2)),
                "one_on_two": resume(gpu, hparams, data, folder / "one", folder / "one_on_two", ranks=2),
                "two_on_one": resume(gpu, hparams, data, folder / "two", folder / "two_on_one")}
        for run, steps in same.items():
            if steps != on_one or tensors(folder / run) != state:
                fail(f"{run} has other bits than one rank: {steps[-1]} instead of {on_one[-1]}")
        crossed = {"two GPUs from a CPU": resume(gpu, hparams, data, folder / "cpu", folder / "crossed", ranks=2),
                   "two CPUs from two GPUs": resume(cpu, hparams, data, folder / "two", folder / "back", ranks=2)}
        for run, steps in crossed.items():
            for key in ("loss", "grad_norm"):
                difference = train_equally.worst(steps, on_cpu, key)
                if difference > float(tolerance):
                    fail(f"{key} of {run} differs from a CPU's by {difference}")


main()

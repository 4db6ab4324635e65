#!/usr/bin/env python3
"""train_equally.py <program for CPUs> <program for GPUs> <hyperparameters> [tolerance]: trains both on the same tokens for
20 steps, resumes each run of a GPU from its middle, and the run of each device on the other, and compares losses, gradient
norms and loss scales. A step that is logged is timed kernel by kernel, so the GPU's run and what resumes it are done again
with logs of no step, where the GPU runs steps as it has recorded them. Prints one line; ends with 1 if losses differ by
more, or a tensor of the last checkpoints of the GPU's runs in a bit."""
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile

STEPS = 20
KEPT = ("step", "loss", "lr", "grad_norm", "tokens", "loss_scale")


def write_tokens(path):
    """The bytes of this file, again and again, as a packed file of two bytes a token."""
    text = pathlib.Path(__file__).read_bytes() * 8
    tokens = b"".join(byte.to_bytes(2, "little") for byte in text)
    path.write_bytes(len(tokens).to_bytes(8, "little") + (2).to_bytes(4, "little") + tokens +
                     pickle.dumps([(0, len(tokens))]))


def command(program, hparams, data, output, *settings):
    words = [program, "--hparams", hparams]
    for setting in (f"data.train={data}", "data.evaluation=", "data.tokenizer=", f"run.steps={STEPS}",
                    "schedule.warmup_steps=2", "evaluation.every=never", "checkpoint.every=10", "log.every=1",
                    f"run.output_dir={output}", *settings):
        words += ["--set", setting]
    return words


def train(program, hparams, data, output, *settings, ranks=1):
    words = [*command(program, hparams, data, output, *settings), *(["--ranks", str(ranks)] if ranks > 1 else [])]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{program}: {result.stdout[-500:]}{result.stderr[-2000:]}")
    return records(output)


def records(output):
    return [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]


def kept(steps):
    """What a run that goes on repeats."""
    return [{key: step[key] for key in KEPT} for step in steps]


def without_second_half(run, output):
    """A copy of a run as it was at its checkpoint in the middle."""
    shutil.copytree(run, output)
    shutil.rmtree(output / f"checkpoints/step_{STEPS:08}")
    return output


def tensors(run):
    """The bytes of each tensor of the last checkpoint of a run, put together from the files of its ranks."""
    parts = {}
    for file in (run / f"checkpoints/step_{STEPS:08}").glob("*.safetensors"):
        content = file.read_bytes()
        end = 8 + int.from_bytes(content[:8], "little")
        places = json.loads(content[8:end])
        notes = places.pop("__metadata__", {})  # of a part: "from 4096 of 256x128"
        for name, place in places.items():
            first = int(notes[name].split()[1]) if name in notes else 0
            begin, behind = place["data_offsets"]
            parts.setdefault((name, place["dtype"]), []).append((first, content[end + begin:end + behind]))
    if not parts:
        sys.exit(f"{run} has no tensors of step {STEPS}")
    return {tensor: b"".join(part for _, part in sorted(held)) for tensor, held in parts.items()}


def train_recorded(program, hparams, data, output, *settings):
    """Of a run whose steps are recorded, but for the first two. It says so where one can't be."""
    result = subprocess.run(command(program, hparams, data, output, "log.every=1000", *settings), capture_output=True, text=True)
    if result.returncode != 0 or "not recorded" in result.stdout + result.stderr:
        sys.exit(f"{program}: {result.stdout[-500:]}{result.stderr[-2000:]}")
    return tensors(output)


def resume(program, hparams, data, run, output, ranks=1):
    """The second half of a run again."""
    return kept(train(program, hparams, data, without_second_half(run, output), "checkpoint.resume=auto", ranks=ranks))


def worst(a, b, name):
    return max(abs(x[name] - y[name]) / abs(y[name]) for x, y in zip(a, b, strict=True))


def main():
    cpu, gpu, hparams = sys.argv[1:4]
    tolerance = float(sys.argv[4]) if len(sys.argv) > 4 else 1e-5
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_tokens(folder / "train.pbin")
        data = folder / "train.pbin"
        on_gpu = train(gpu, hparams, data, folder / "gpu")  # first, as it says at once that there is no GPU
        on_cpu = train(cpu, hparams, data, folder / "cpu")
        resumed = resume(gpu, hparams, data, folder / "gpu", folder / "resumed")
        crossed = resume(gpu, hparams, data, folder / "cpu", folder / "crossed")
        back = resume(cpu, hparams, data, folder / "gpu", folder / "back")
        report = {key: max(worst(run, on_cpu, key) for run in (on_gpu, crossed, back))
                  for key in ("loss", "grad_norm", "loss_scale")}
        recorded = train_recorded(gpu, hparams, data, folder / "recorded")
        recorded_again = train_recorded(gpu, hparams, data, without_second_half(folder / "recorded", folder / "again"),
                                        "checkpoint.resume=auto")
        same_bits = resumed == kept(on_gpu) and tensors(folder / "gpu") == recorded == recorded_again
        print(json.dumps({"program": pathlib.Path(gpu).name, **report, "last_loss": on_gpu[-1]["loss"],
                          "resumed_with_the_same_bits": same_bits}))
    if max(report.values()) > tolerance or not same_bits:
        sys.exit(1)


if __name__ == "__main__":
    main()

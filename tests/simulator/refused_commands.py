#!/usr/bin/env python3
"""refused_commands.py <monomorph-data> <program for GPUs> <hyperparameters>: a command that trains nothing, and that a GPU refuses memory,
ends with one line that has the plan's parts and what would fit: with 2 before it computes, and with 1 behind that. Ends with 1
and a line if it does not."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import train_equally  # noqa: E402

# What a model is made of, in the order in which it is taken: how the refusal of each begins. Behind it comes the cache.
OF_MODEL = (r"\[GPU-05\] the plan's [^ ]+ [KMG]?i?B of the GPU's memory must be free, and ",
            r"\[GPU-05\] [^ ]+ [KMG]iB of the GPU's memory must be free for the workspace of kernels, and ",
            r"\[GPU-05\] [^ ]+ [KMG]iB of the GPU's memory must be free for token ids, and ",
            r"\[GPU-06\] [^ ]+ [KMG]iB of the host's memory must be free for CUDA to keep token ids in place, and ")
NOTHING = "take a smaller model, or a GPU with more memory"
KERNEL = r"\[GPU-05\] the GPU has no memory left for the code of a kernel "


def fail(line):
    sys.exit(f"refused_commands.py: {line}")


def run(words, refusal=None, refused_kernel=None):
    refused = {"MONOMORPH_SIMULATOR_REFUSAL": refusal, "MONOMORPH_SIMULATOR_REFUSED_KERNEL": refused_kernel}
    environment = {**os.environ, **{name: str(n) for name, n in refused.items() if n is not None}}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, env=environment)


def demand(words):
    result = run(words)
    if result.returncode != 0:
        fail(f"{words} ends with {result.returncode}: {result.stdout[-500:]}{result.stderr[-2000:]}")
    return result.stdout


def expect(words, beginning, ending, code=2, **refused):
    """One line, from how the refusal begins over the plan's parts to what would help."""
    result = run(words, **refused)
    pattern = f"{beginning}.*; the largest parts of the plan are .* and .*; {ending}$"
    if result.returncode != code or len(result.stderr.splitlines()) != 1 or not re.search(pattern, result.stderr):
        fail(f"{words[1]} to which memory is refused ({refused}) must end with {code} and a line of {pattern!r}, and gives "
             f"{result.returncode}: {result.stdout[-500:]}{result.stderr}")
    return result.stderr


def expect_of_model(words, change, hint):
    for n, beginning in enumerate(OF_MODEL):
        expect(words, beginning, change if "GPU-05" in beginning else hint, refusal=n)


def check_held_out(evaluate):
    words = [*evaluate, "--micro-batch", 4]
    expect_of_model(words, "change --micro-batch to 3, which fits", "lower --micro-batch, or take a machine with more memory")
    expect(words, KERNEL, "change --micro-batch to 3, which fits", code=1, refused_kernel=5)
    # The largest that the plan has room for.
    line = expect([*evaluate, "--micro-batch", 1 << 17], OF_MODEL[0], r"change --micro-batch to \d+, which fits")
    fitting = int(re.search(r"--micro-batch to (\d+)", line)[1])
    if not 100 < fitting < 1 << 17:
        fail(f"a GPU of 1 GiB must have memory for some hundred sequences, and evaluate says {fitting}")


def check_texts(generate):
    words = [*generate, "--samples", 4]
    expect_of_model(words, NOTHING, "take a machine with more memory, or raise the limit that this program runs under")
    smaller_cache = "change --cache-tokens to 48, which fits"
    of_cache = ", beside a cache of 64 tokens"
    if of_cache not in expect(words, OF_MODEL[0], smaller_cache, refusal=len(OF_MODEL)):
        fail(f"generate must say {of_cache!r} of a cache that is refused")
    expect(words, KERNEL, smaller_cache, code=1, refused_kernel=20)
    line = expect([*words, "--cache-tokens", 1 << 30], OF_MODEL[0], r"change --cache-tokens to \d+, which fits")
    demand([*words, "--cache-tokens", re.search(r"--cache-tokens to (\d+)", line)[1]])


def check_scores(score):
    expect_of_model(score, NOTHING, "take a machine with more memory, or raise the limit that this program runs under")
    expect(score, OF_MODEL[0], NOTHING, refusal=len(OF_MODEL))
    expect(score, KERNEL, NOTHING, code=1, refused_kernel=5)


def main():
    data_tool, gpu, hparams = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data, tokenizer, trained = folder / "train.pbin", folder / "tokenizer.json", folder / "run"
        train_equally.write_tokens(data)
        demand(train_equally.command(gpu, hparams, data, trained, "run.steps=1", "schedule.warmup_steps=0"))
        demand([data_tool, "train-tokenizer", __file__, "--vocab-size", 257, "--output", tokenizer])
        model = ["--checkpoint", trained]
        check_held_out([gpu, "evaluate", *model, "--data", data])
        check_texts([gpu, "generate", *model, "--tokenizer", tokenizer, "--prompt", "def", "--max-tokens", 8])
        check_scores([gpu, "score", *model, "--tokenizer", tokenizer, "--text", "def main"])


main()

#!/usr/bin/env python3
"""Times training steps of llm.c's GPT-2 124M (random weights, bf16, rows of 1,024 tokens) and prints one JSON line.

usage: llm_c.py <build of train_gpt2cu> <micro-batch> <micro-batches a step> <steps>
The first half of the steps warms up. Tokens are random, and as repetitive as text: llm.c sorts those of a step on the host, which
takes several times as long where all are equally frequent. NVIDIA's libraries are found beside this Python's packages.
"""
import glob
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy

CONTEXT, VOCABULARY = 1024, 50257


def write_tokens(path, n, random):
    """A file of llm.c's: 256 words, of which three say what it is, then two bytes a token. Token i has a share like 1 / (i + 2.7)."""
    shares = numpy.cumsum(1 / (numpy.arange(VOCABULARY) + 2.7))
    tokens = numpy.searchsorted(shares, random.random(n) * shares[-1]).clip(max=VOCABULARY - 1)
    header = numpy.zeros(256, dtype=numpy.int32)
    header[:3] = 20240520, 1, n
    path.write_bytes(header.tobytes() + tokens.astype(numpy.uint16).tobytes())


def main():
    build, micro_batch, micro_batches, steps = sys.argv[1], *map(int, sys.argv[2:5])
    tokens = CONTEXT * micro_batch * micro_batches
    random = numpy.random.default_rng(1)
    libraries = ":".join(folder for place in sys.path for folder in sorted(glob.glob(f"{place}/nvidia/*/lib")))
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{libraries}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_tokens(folder / "train.bin", max(4 * tokens, 4_000_000), random)
        write_tokens(folder / "val.bin", 1_000_000, random)
        # It validates never but at its ends, on no batch; it does not sample, save or recompute.
        command = [build, "-i", folder / "train.bin", "-j", folder / "val.bin", "-e", "d12", "-b", micro_batch, "-t", CONTEXT, "-d", tokens,
                   "-x", steps, "-v", 10**9, "-m", 0, "-s", 0, "-h", 0, "-n", 0, "-z", 0, "-r", 0, *sys.argv[5:]]
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    found = re.findall(r"step +\d+/\d+ \| loss (\S+) .*\| ([0-9.]+) ms \|", result.stdout)
    if result.returncode != 0 or len(found) != steps:
        sys.exit(f"llm.c: {(result.stdout + result.stderr).strip()[-300:]}")
    timed = [float(ms) for _, ms in found[steps // 2:]]
    memory = re.search(r"device memory usage: (\d+) MiB", result.stdout)
    print(json.dumps({"tokens_per_s": round(1e3 * tokens / statistics.mean(timed)), "ms_per_step": round(statistics.mean(timed), 3),
                      "ms_min": min(timed), "first_step_ms": float(found[0][1]), "loss_first": float(found[0][0]),
                      "loss_last": float(found[-1][0]), "device_mb": int(memory[1]) if memory else None, "flags": sys.argv[5:]}))


main()

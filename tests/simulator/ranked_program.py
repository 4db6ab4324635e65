#!/usr/bin/env python3
"""ranked_program.py <program for CPUs> <program for GPUs> <hyperparameters>: two ranks of a whole program, each on a simulated
GPU. They train as one rank on a CPU does; their checkpoint is gone on from, by them with the same bits and by a CPU. A rank
that is killed ends the other with one line, and ranks that have one GPU between them are refused. `check --collectives` tries
what the GPUs exchange. Ends with 1 and a line if that is not so."""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import train_equally  # noqa: E402

PATIENCE_S = 120


def fail(line):
    sys.exit(f"ranked_program.py: {line}")


def check_training(cpu, gpu, hparams, data, folder):
    ranked = ["--ranks", "2"]

    def train(program, output, *settings, ranks=()):
        words = [*train_equally.command(program, hparams, data, output, *settings), *ranks]
        result = subprocess.run(words, capture_output=True, text=True)
        if result.returncode != 0:
            fail(f"{' '.join(map(str, words))}: {result.stdout[-500:]}{result.stderr[-2000:]}")
        return train_equally.records(output)

    on_cpu, on_gpus = train(cpu, folder / "cpu"), train(gpu, folder / "gpus", ranks=ranked)
    again = train_equally.without_second_half(folder / "gpus", folder / "again")
    back = train_equally.without_second_half(folder / "gpus", folder / "back")
    if train_equally.kept(train(gpu, again, "checkpoint.resume=auto", ranks=ranked)) != train_equally.kept(on_gpus):
        fail("two ranks that go on from their checkpoint have other bits")
    for run in (on_gpus, train(cpu, back, "checkpoint.resume=auto")):
        difference = train_equally.worst(run, on_cpu, "loss")
        if difference > 1e-6:
            fail(f"two ranks differ from one on a CPU by {difference}")


def check_shared_gpu(gpu, hparams, data, folder):
    result = subprocess.run([*train_equally.command(gpu, hparams, data, folder / "shared"), "--ranks", "2"],
                            capture_output=True, text=True, env={**os.environ, "MONOMORPH_SIMULATOR_GPUS": "1"})
    if result.returncode != 2 or "[RANK-26] ranks 0 and 1 have the same GPU" not in result.stderr:
        fail(f"ranks that share a GPU end with {result.returncode}: {result.stderr}")


def check_collectives(gpu, hparams, data, folder):
    words = train_equally.command(gpu, hparams, data, folder / "checked")
    words = [words[0], "check", "--collectives", *words[1:], "--ranks", "2"]
    result = subprocess.run(words, capture_output=True, text=True,
                            env={**os.environ, "MONOMORPH_SIMULATOR_NCCL": "1 all-reduce"})
    said = "[RANK-13] the reduction of gradients gives rank 1 wrong numbers"
    if result.returncode != 1 or said not in result.stderr:
        fail(f"check --collectives of GPUs that add up wrong ends with {result.returncode}: {result.stdout}{result.stderr}")


def check_killed_rank(gpu, hparams, data, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    output = folder / "killed"
    words = train_equally.command(gpu, hparams, data, output, "run.steps=100000", "checkpoint.every=100000",
                                  "failure.rank_timeout=20")
    ranks = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank),
                                   "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})
             for rank in range(2)]
    end = time.monotonic() + PATIENCE_S
    metrics = output / "metrics.jsonl"
    while not metrics.exists() or metrics.read_text().count("\n") < 3:
        if time.monotonic() > end or ranks[0].poll() is not None:
            fail("two ranks take no steps")
        time.sleep(0.1)
    ranks[1].send_signal(signal.SIGKILL)
    errors = ranks[0].communicate(timeout=PATIENCE_S)[1]
    lines = [line for line in errors.splitlines() if "[RANK-11]" in line]
    said = [" among ranks 0, 1, in step ", "rank 1"]
    if ranks[0].returncode != 1 or len(lines) != 1 or not all(text in lines[0] for text in said):
        fail(f"a rank whose other one was killed ends with {ranks[0].returncode}: {errors}")


def main():
    cpu, gpu, hparams = sys.argv[1:]
    os.environ["MONOMORPH_SIMULATOR_GPUS"] = "2"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "train.pbin"
        train_equally.write_tokens(data)
        check_training(cpu, gpu, hparams, data, folder)
        check_shared_gpu(gpu, hparams, data, folder)
        check_collectives(gpu, hparams, data, folder)
        check_killed_rank(gpu, hparams, data, folder)


main()

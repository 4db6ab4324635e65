#!/usr/bin/env python3
"""ranked_program.py <program for CPUs> <program for GPUs> <hyperparameters>: two ranks of a whole program, each on a simulated
GPU. They train as one rank on a CPU does; their checkpoint is gone on from, by them with the same bits and by a CPU. A rank
that is killed or stopped is named by the other one, which ends; where the GPU of one refuses memory or has a fault, each
ends with a line; ranks that have one GPU between them are refused. `check --collectives` tries what the GPUs exchange. A
trace has their streams' times. Ends with 1 and a line if that is not so."""
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import delete_waits

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import train_equally  # noqa: E402

PATIENCE_S = 120


def fail(line):
    sys.exit(f"ranked_program.py: {line}")


def check_training(cpu, gpu, hparams, data, folder):
    on_cpu = train_equally.train(cpu, hparams, data, folder / "cpu")
    on_gpus = train_equally.train(gpu, hparams, data, folder / "gpus", ranks=2)
    if train_equally.resume(gpu, hparams, data, folder / "gpus", folder / "again", ranks=2) != train_equally.kept(on_gpus):
        fail("two ranks that go on from their checkpoint have other bits")
    for run in (on_gpus, train_equally.resume(cpu, hparams, data, folder / "gpus", folder / "back")):
        difference = train_equally.worst(run, on_cpu, "loss")
        if difference > 1e-6:
            fail(f"two ranks differ from one on a CPU by {difference}")


def check_shared_gpu(gpu, hparams, data, folder):
    result = subprocess.run([*train_equally.command(gpu, hparams, data, folder / "shared"), "--ranks", "2"],
                            capture_output=True, text=True, env={**os.environ, "MONOMORPH_SIMULATOR_GPUS": "1"})
    if result.returncode != 2 or "[RANK-26] ranks 0 and 1 have the same GPU" not in result.stderr:
        fail(f"ranks that share a GPU end with {result.returncode}: {result.stderr}")


KINDS = ("products", "attention", "elementwise", "loss", "optimizer", "collectives", "copies", "data", "other")


def is_nested(events):
    """Whether each event of a row lies within the one that is open where it begins, or behind all before it."""
    open_ends = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        begin, end = event["ts"], event["ts"] + event["dur"]
        while open_ends and open_ends[-1] <= begin + 1e-3:
            open_ends.pop()
        if open_ends and end > open_ends[-1] + 1e-3:
            return False
        open_ends.append(end)
    return True


def check_trace(gpu, hparams, data, folder):
    """Of a run that ends before its trace would."""
    output = folder / "traced"
    words = [*train_equally.command(gpu, hparams, data, output, "run.steps=4"), "--ranks", "2", "--trace", "steps=10"]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0 or "traced steps 2 to 4" not in result.stdout:
        fail(f"a traced run ends with {result.returncode}: {result.stdout[-500:]}{result.stderr[-2000:]}")
    for rank in range(2):
        events = json.loads((output / f"trace_rank_{rank:05}.json").read_text())["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        rows = {name: [] for name in names.values()}
        for event in events:
            if event["ph"] == "X":
                rows[names[event["tid"]]].append(event)
        for row, spans in rows.items():
            if not is_nested(spans):
                fail(f"spans of {row} overlap in the trace of rank {rank}")
        compute = rows["compute"]
        steps = [event["name"] for event in compute if event["name"].startswith("step ")]
        if steps != ["step 2", "step 3", "step 4"]:
            fail(f"the trace of rank {rank} has {steps}")
        for outer, inner in (("step 3", "forward 1"), ("forward 1", "linear"), ("backward 1", "linear_backward_weight"),
                             ("update 1", "adamw")):
            def lies_in(event, around):
                return around["ts"] <= event["ts"] and event["ts"] + event["dur"] <= around["ts"] + around["dur"] + 1e-3
            if not any(lies_in(a, b) for a in compute if a["name"] == inner for b in compute if b["name"] == outer):
                fail(f"{inner} does not lie in {outer} in the trace of rank {rank}")
        reduced = [event["name"] for event in rows["reductions"] if event["name"].startswith("reduce ")]
        if len(reduced) < 3 or len(reduced) % 3 != 0:
            fail(f"the trace of rank {rank} has reductions {reduced}")
        if not rows["waiting for collectives"]:
            fail(f"compute of rank {rank} waits for nothing")
    records = train_equally.records(output)
    if any("work_seconds.step" in record for record in records[:1]):
        fail("the first step tells of a step before")
    for record in records[1:]:
        kinds = [record[f"work_seconds.{kind}"] for kind in KINDS]
        if min(kinds) < 0 or record["work_seconds.products"] <= 0 or abs(sum(kinds) - record["work_seconds.step"]) > 1e-9:
            fail(f"the kinds of work of a step are {record}")


def check_collectives(gpu, hparams, data, folder):
    words = train_equally.command(gpu, hparams, data, folder / "checked")
    words = [words[0], "check", "--collectives", *words[1:], "--ranks", "2"]
    result = subprocess.run(words, capture_output=True, text=True,
                            env={**os.environ, "MONOMORPH_SIMULATOR_NCCL": "1 all-reduce"})
    said = "[RANK-13] the reduction of gradients gives rank 1 wrong numbers"
    if result.returncode != 1 or said not in result.stderr:
        fail(f"check --collectives of GPUs that add up wrong ends with {result.returncode}: {result.stdout}{result.stderr}")


def start_ranks(words, *of_ranks):
    """Two processes, of which rank 0 serves what they leave notes in.   of_ranks: what their environments have besides"""
    environments = [{**environment, **of_rank}
                    for environment, of_rank in itertools.zip_longest(delete_waits.environments(2), of_ranks, fillvalue={})]
    return [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
            for environment in environments]


def lines_of_errors(ranks):
    """By rank, the lines with an error's id."""
    errors = [rank.communicate(timeout=PATIENCE_S)[1] for rank in ranks]
    return [[line for line in text.splitlines() if line.startswith("error: [")] for text in errors]


def check_refused_memory(gpu, hparams, data, folder):
    """To rank 1, whose arena is the third that it asks for, behind what collectives need. Nobody waits for a time limit."""
    output = folder / "refused"
    ranks = start_ranks(train_equally.command(gpu, hparams, data, output, f"failure.rank_timeout={2 * PATIENCE_S}"),
                        {}, {"MONOMORPH_SIMULATOR_REFUSAL": "2"})
    lines = lines_of_errors(ranks)
    said = ["[RANK-08] rank 1 could not take the memory for the step", "[GPU-05] the plan's "]
    for rank in range(2):
        if ranks[rank].returncode != 2 or len(lines[rank]) != 1 or said[rank] not in lines[rank][0]:
            fail(f"where rank 1 is refused memory, rank {rank} ends with {ranks[rank].returncode}: {lines[rank]}")
    if output.exists():
        fail("ranks of which one is refused memory leave a folder behind")


def check_fault(cpu, gpu, hparams, data, folder):
    """Of the GPU of rank 1, in a step that it has recorded: both ranks end with a line, and a CPU goes on from a checkpoint
    before."""
    output = folder / "fault"
    ranks = start_ranks(train_equally.command(gpu, hparams, data, output, "failure.rank_timeout=20", "run.steps=100000",
                                              "log.every=1000"), {}, {"MONOMORPH_SIMULATOR_FAULT": "6000"})
    lines = lines_of_errors(ranks)
    said = ["no word from rank 1; see what became of rank 1", "[GPU-02] the GPU failed while "]
    for rank in range(2):
        if ranks[rank].returncode != 1 or len(lines[rank]) != 1 or said[rank] not in lines[rank][0]:
            fail(f"where the GPU of rank 1 fails, rank {rank} ends with {ranks[rank].returncode}: {lines[rank]}")
    kept = sorted((output / "checkpoints").glob("step_*"))
    if not kept or any(int(path.name.removeprefix("step_")) % 10 for path in kept):
        fail(f"behind the fault of a GPU there are the checkpoints {kept}")
    last = int(kept[-1].name.removeprefix("step_"))
    train_equally.train(cpu, hparams, data, output, "checkpoint.resume=auto", f"run.steps={last + 2}")


def check_silent_rank(gpu, hparams, data, folder, victim, by):
    """A rank that is killed or stopped is named by the other one."""
    output = folder / f"silent_{victim}_{by.name}"
    limit_s = 10 if by == signal.SIGSTOP else 30  # one that is killed is missed before
    ranks = start_ranks(train_equally.command(gpu, hparams, data, output, "run.steps=100000", "checkpoint.every=100000",
                                              f"failure.rank_timeout={limit_s}"))
    end = time.monotonic() + PATIENCE_S
    metrics = output / "metrics.jsonl"
    while not metrics.exists() or metrics.read_text().count("\n") < 3:
        if time.monotonic() > end or ranks[0].poll() is not None:
            fail("two ranks take no steps")
        time.sleep(0.1)
    ranks[victim].send_signal(by)
    survivor = ranks[1 - victim]
    [lines] = lines_of_errors([survivor])
    ranks[victim].kill()
    said = ["[RANK-11]" if by == signal.SIGKILL else "[RANK-12]", " among ranks 0, 1, in step ",
            f"no word from rank {victim}; see what became of rank {victim}"]
    if survivor.returncode != 1 or len(lines) != 1 or not all(text in lines[0] for text in said):
        fail(f"where rank {victim} gets {by.name}, the other one ends with {survivor.returncode}: {lines}")


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
        check_trace(gpu, hparams, data, folder)
        check_refused_memory(gpu, hparams, data, folder)
        check_fault(cpu, gpu, hparams, data, folder)
        # Rank 0 serves what the ranks leave their notes in.
        for victim, by in ((1, signal.SIGKILL), (0, signal.SIGKILL), (0, signal.SIGSTOP)):
            check_silent_rank(gpu, hparams, data, folder, victim, by)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""ranked_fault.py <program for CPUs> <program for GPUs> <hyperparameters>: where the GPU of one of two ranks fails before, in
and behind the save of a checkpoint, whether steps wait for it or not, each rank ends with one line, the checkpoint is there
whole or not at all, and the run goes on from what is there, on a CPU. Ends with 1 and a line if that is not so."""
import concurrent.futures
import pathlib
import sys
import tempfile

import ranked_program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import train_equally  # noqa: E402

SAVED = train_equally.STEPS // 2  # the step whose checkpoint is saved first
AT_A_TIME = 4  # a rank that has lost the other one waits for a word of it, and so do these runs, most of their time


def fail(line):
    raise SystemExit(f"ranked_fault.py: {line}")


def operations(gpu, hparams, data, folder, checkpoint_every):
    """By rank, how many operations its GPU has run when the checkpoint of the step SAVED is there, which is the last."""
    counts = [folder / f"operations_{checkpoint_every}_{rank}" for rank in range(2)]
    ranks = ranked_program.start_ranks(
        train_equally.command(gpu, hparams, data, folder / f"counted_{checkpoint_every}", f"run.steps={SAVED}",
                              f"checkpoint.every={checkpoint_every}", "checkpoint.async_save=off"),
        *({"MONOMORPH_SIMULATOR_OPERATIONS": str(count)} for count in counts))
    errors = [rank.communicate(timeout=ranked_program.PATIENCE_S)[1] for rank in ranks]
    if any(rank.returncode != 0 for rank in ranks):
        fail(f"two ranks without a fault end with {errors}")
    return [int(count.read_text()) for count in counts]


class FailedRun:
    """Of two ranks. An operation of the GPU of one of them fails, the n-th of its run."""

    def __init__(self, async_save, victim, operation):
        self.async_save, self.victim, self.operation = async_save, victim, operation

    def __str__(self):
        return f"a fault at operation {self.operation} of rank {self.victim}, with async_save={self.async_save},"

    def output(self, folder):
        return folder / f"{self.async_save}_{self.victim}_{self.operation}"

    def end(self, gpu, hparams, data, folder):
        words = train_equally.command(gpu, hparams, data, self.output(folder), f"checkpoint.async_save={self.async_save}",
                                      f"failure.rank_timeout={ranked_program.PATIENCE_S}")
        fault = {"MONOMORPH_SIMULATOR_FAULT": str(self.operation)}
        ranks = ranked_program.start_ranks(words, *(fault if rank == self.victim else {} for rank in range(2)))
        lines = ranked_program.lines_of_errors(ranks)
        said = {self.victim: "[GPU-02] the GPU failed while ", 1 - self.victim: f"see what became of rank {self.victim}"}
        for rank in range(2):
            if ranks[rank].returncode != 1 or len(lines[rank]) != 1 or said[rank] not in lines[rank][0]:
                fail(f"{self} ends rank {rank} with {ranks[rank].returncode}: {lines[rank]}")

    def has_checkpoint(self, folder):
        """Of the step, whole, as far as names tell. A part of one may lie beside it, as where any rank is lost."""
        found = sorted(path.name for path in (self.output(folder) / "checkpoints").glob("[!.]*"))
        if found not in ([], [f"step_{SAVED:08}"]):
            fail(f"{self} leaves {found}")
        return found != []

    def check_resumed(self, cpu, hparams, data, folder, on_cpu):
        resumed = train_equally.train(cpu, hparams, data, self.output(folder), "checkpoint.resume=auto")
        difference = train_equally.worst(resumed, on_cpu, "loss")
        if difference > 1e-6:
            fail(f"the run that goes on after {self} differs from one on a CPU by {difference}")


def main():
    cpu, gpu, hparams = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "train.pbin"
        train_equally.write_tokens(data)
        on_cpu = train_equally.train(cpu, hparams, data, folder / "cpu")
        ends = operations(gpu, hparams, data, folder, SAVED)
        begins = [2 * end - of_two for end, of_two in zip(ends, operations(gpu, hparams, data, folder, SAVED // 2))]
        middles = [(begin + end) // 2 for begin, end in zip(begins, ends)]
        without = [FailedRun("off", 1, begins[1] - 1), FailedRun("off", 1, begins[1]), FailedRun("on", 1, begins[1])]
        with_it = [FailedRun("off", 1, ends[1])]
        either = [FailedRun("off", 1, ends[1] - 1), FailedRun("on", 1, ends[1]), FailedRun("off", 1, middles[1]),
                  FailedRun("on", 1, middles[1]), FailedRun("off", 0, middles[0]), FailedRun("on", 0, ends[0])]
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            list(pool.map(lambda run: run.end(gpu, hparams, data, folder), [*without, *with_it, *either]))
        for run in [*without, *with_it, *either]:
            there = run.has_checkpoint(folder)
            if (there and run in without) or (not there and run in with_it):
                fail(f"{run} must {'leave no' if there else 'leave the'} checkpoint")
            run.check_resumed(cpu, hparams, data, folder, on_cpu)


main()

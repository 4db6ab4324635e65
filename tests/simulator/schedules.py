#!/usr/bin/env python3
"""Random schedules of streams, by the number: the same bits in all of them, and no race.

schedules.py <build folder> [--schedules N] [--raced N] [--recipes N] [--ranks N...] [--rank-schedules N] [--without-waits N] [--first-seed N] [--jobs N] [--report FILE]
- N schedules over the recipes of the covering set (so many from all over it; with --recipes 0 ranks alone are tried), steps recorded and not, each of which must leave the bits
  of the late one; and N of each recipe, recorded and not, in which kernels report what they read and write, so that races are
  found that do not show in bits;
- steps of each sharding strategy on so many ranks, recorded and not, in the fixed tree, each in so many schedules, which must
  leave the bits of one GPU's, and those of two ranks without a race;
- the first of these without a wait, for so many waits of one recipe in turn, recorded and not: which must show by a race, other bits
  or a signal, or the rest would prove nothing. Waits without which steps can't be recorded show nothing, and others are taken.
Ends with 1 unless all of that is so.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import time

import delete_waits

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from machine import machine  # noqa: E402

HOW = {"gpu": "kernel by kernel", "recorded": "recorded"}
# By strategy the ranks that it takes at least, and the strategy whose steps on one GPU it must have.
STRATEGIES = {"Replicate": (1, "Replicate"), "ShardOptimizer": (1, "Replicate"), "ShardGradOp": (1, "Replicate"),
              "FullShard": (1, "Replicate"), "ReduceOncePerStep": (1, "Replicate"), "HybridShard": (4, "Replicate"),
              "DeepOnHost": (1, "DeepReplicate")}
STEPS, MICRO_BATCHES = 3, 8
RACED_RANKS = 2
WITH_WAITS = "fp64, activations and state on the host, Lion"  # where streams wait for copies both ways
LIMIT_S = 1200


class Seeds:
    """No schedule is tried twice."""

    def __init__(self, first=1):
        self.last = first - 1

    def take(self, n):
        self.last += n
        return self.last - n + 1


class Run:
    """What came of schedules of one recipe. It does not count where the program ends in the middle."""

    def __init__(self, program, recipe, device, first_seed, n, *place):
        result = subprocess.run([program, recipe, device, str(first_seed), str(n), *place], capture_output=True, text=True,
                                env=delete_waits.ENVIRONMENT, timeout=LIMIT_S)
        lines = result.stdout.splitlines()
        of = {kind: [line.removeprefix(kind) for line in lines if line.startswith(kind)] for kind in ("race: ", "place: ", "schedules: ")}
        self.places, self.n = of["place: "], n
        self.raced = self.other_bits = 0
        self.died = result.returncode < 0
        self.counts = result.returncode in (0, 1) and bool(of["schedules: "])
        if self.counts:
            self.raced, self.other_bits = map(int, re.fullmatch(r"\d+ raced: (\d+) other bits: (\d+)", of["schedules: "][0]).groups())
            self.says = of["race: "][0] if of["race: "] else "a race" if self.raced else "other bits" if self.other_bits else ""
        else:
            self.says = delete_waits.ending(result.returncode, result.stderr)

    def is_right(self):
        return self.counts and not self.raced and not self.other_bits

    def shows(self):
        """Whether it shows that something is wrong with the order: one that did not run what it was asked shows nothing."""
        return self.raced > 0 or self.other_bits > 0 or self.died


def covering_set(pool, build, seeds, n_schedules, n_raced, n_recipes):
    """Rows of (recipe, device, the schedules' run, the run that looks for races)."""
    if n_recipes == 0:
        return []
    recipes = subprocess.run([build / "simulated_schedules"], capture_output=True, text=True, check=True).stdout.splitlines()
    if n_recipes is not None:
        every = max(1, len(recipes) // n_recipes)
        recipes = recipes[every // 2::every][:n_recipes]
    each = -(-n_schedules // (len(recipes) * len(HOW)))
    tasks = [(recipe, device, [(build / program, recipe, device, seeds.take(n), n)
                               for program, n in (("simulated_schedules", each), ("raced_schedules", n_raced)) if n])
             for recipe in recipes for device in HOW]
    return list(pool.map(row_of, *zip(*tasks)))


def row_of(recipe, device, arguments_of_runs):
    runs = [Run(*arguments) for arguments in arguments_of_runs]
    for run in runs:
        if not run.is_right():
            found = f"of {run.n} {run.raced} raced, {run.other_bits} left other bits: " if run.counts else ""
            print(f"{recipe}, {HOW[device]}: {found}{run.says}", flush=True)
    return (recipe, device, *runs)


def steps_of(program, ranks, arguments):
    """The lines of steps of rank 0, or what is wrong."""
    codes, outputs, errors = delete_waits.run_ranks([program, *arguments], ranks)
    if any(codes):  # 4 after a race
        return "; ".join(f"rank {rank}: {delete_waits.ending(code, error)}"
                         for rank, (code, error) in enumerate(zip(codes, errors)) if code)
    steps = [[line for line in output if line.startswith("step ")] for output in outputs]
    return steps[0] if all(each == steps[0] for each in steps) else "ranks differ"


def table_of_ranks(pool, build, seeds, ranks, n):
    """By (strategy, device, ranks) how many of n schedules have the steps of one GPU, without a race where that is looked for."""
    def arguments(device, strategy, schedule, seed):
        return [device, strategy, "fixed_tree", schedule, str(seed), str(STEPS), str(MICRO_BATCHES)]

    expected = {}
    for _, like in STRATEGIES.values():
        if like in expected:
            continue
        expected[like] = steps_of(build / "simulated_rank", 1, arguments("gpu", like, "late", 0))
        if not isinstance(expected[like], list) or len(expected[like]) != STEPS:
            sys.exit(f"schedules.py: one GPU does not train: {expected[like]}")
    cells = [(strategy, device, number) for strategy, (least, _) in STRATEGIES.items() for device in HOW for number in ranks
             if number >= least]

    def right_of(cell, first):
        strategy, device, number = cell
        program = build / ("raced_rank" if number == RACED_RANKS else "simulated_rank")
        found = [steps_of(program, number, arguments(device, strategy, "random", first + i)) for i in range(n)]
        right = expected[STRATEGIES[strategy][1]]
        for each in found:
            if each != right:
                print(f"{strategy} of {number} ranks, {HOW[device]}: {each}", flush=True)
        return sum(each == right for each in found)

    return dict(zip(cells, pool.map(right_of, cells, [seeds.take(n) for _ in cells])))


def without_waits(build, seeds, devices, n_waits, n):
    """Rows of (wait, device, the schedules' run, the run that looks for races) of a recipe without one of its waits, for so many
    waits of each device; and the waits without which CUDA refuses to record steps, that were met on the way."""
    rows, refused = [], []
    for device in devices if n_waits else []:
        left = n_waits
        for name in spread(waits_of_streams(build, seeds, device), n_waits):
            if left == 0:
                break

            def run(program, count):
                # The two programs have other addresses: a wait has the same name in both.
                return Run(build / program, WITH_WAITS, device, seeds.take(count), count, named(build / program, device, name))

            raced = run("raced_schedules", 1)
            if is_refused(raced):
                refused.append(name)
                continue
            rows.append((name, device, run("simulated_schedules", n), raced))
            left -= 1
        if left:
            sys.exit(f"schedules.py: {n_waits} waits were to be left out of steps {HOW[device]}, and {left} of them are not there")
    return rows, refused


def is_refused(run):
    """Without some waits a stream takes no part in what is recorded, or has no end: CUDA refuses that, and nothing runs."""
    return not run.counts and not run.died and run.says.endswith("steps are not recorded")


def waits_of_streams(build, seeds, device):
    """Names of the waits that order streams, those of recorded steps for these."""
    program = build / "raced_schedules"
    names = [delete_waits.called_from(program, place) for place in Run(program, WITH_WAITS, device, seeds.take(1), 1).places
             if place.startswith("graph ") == (device == "recorded")]
    return [name for name in dict.fromkeys(names) if ", for " in name]


def spread(names, n):
    """So many of them from all over, and then the others."""
    first = names[::max(1, len(names) // n)][:n]
    return first + [name for name in names if name not in first]


_places = {}


def named(program, device, name):
    """The first place of that name."""
    if (program, device) not in _places:
        found = Run(program, WITH_WAITS, device, 1, 1).places
        _places[program, device] = {delete_waits.called_from(program, place): place for place in reversed(found)}
    return _places[program, device][name]


def report_of(head, command, rows, table, ranks, n_of_ranks, deleted, refused, seconds):
    runs = [run for row in rows for run in row[2:]]
    n = sum(run.n for run in runs) + n_of_ranks * len(table)
    n_raced = sum(row[3].n for row in rows if len(row) > 3) + sum(n_of_ranks for _, _, number in table if number == RACED_RANKS)
    other_bits = sum(run.other_bits for run in runs) + sum(n_of_ranks - right for right in table.values())
    lines = ["# Random schedules of streams on simulated GPUs", "",
             f"{head}. `{command}` repeats it. It took {seconds:,.0f} s.", "",
             "What a [simulated GPU](../../docs/why/simulator.md) is given on several streams runs in a random order of those that "
             "waits allow, another one from each seed. A schedule is right if losses, an evaluation, parameters and the state of the "
             "optimiser have the bits of the schedule that is as late as it may be, kernel by kernel. In some of them kernels report "
             "what they read and write, too, and no two operations may use the same bytes without an order between them, one of "
             "them to write: that is compared by vector clocks, so that what one schedule shows holds for all.", "",
             f"**{n:,} schedules, {n_raced} of them looked through for races by kernels' accesses: {sum(run.raced for run in runs)} with a race, "
             f"{other_bits} with other bits.**", "",
             "## The covering set", "",
             "Two steps of two micro-batches and an evaluation in each schedule, of rows of 8 or 16 tokens. Products, copies and collectives report what they "
             "use in all schedules, kernels in those of the last column.", "",
             "| recipe | steps | schedules | with other bits | with a race | looked through for races of kernels |", "|---|---|---|---|---|---|"]
    for recipe, device, *of in rows:
        lines.append(f"| {recipe} | {HOW[device]} | {sum(run.n for run in of)} | {sum(run.other_bits for run in of)} | "
                     f"{sum(run.raced for run in of)} | {of[1].n if len(of) > 1 else 0} |")
    if table:
        lines += ["", "## Ranks", "",
                  f"{STEPS} steps of {MICRO_BATCHES} micro-batches, in the fixed tree, of ranks with a GPU each, which exchange by NCCL. By "
                  f"number of ranks, in how many of {n_of_ranks} schedules all ranks have the losses and gradient norms of one GPU that "
                  f"holds everything, bit by bit, without a race (kernels report their accesses on {RACED_RANKS} ranks):", "",
                  "| strategy | steps | " + " | ".join(map(str, ranks)) + " |", "|---|---|" + "---|" * len(ranks)]
        for strategy in STRATEGIES:
            for device in HOW:
                cells = (str(table.get((strategy, device, number), "")) for number in ranks)
                lines.append(f"| {strategy} | {HOW[device]} | {' | '.join(cells)} |")
    else:
        lines += ["", "## Ranks", "", "Not run: `--ranks 1 2 4 8` does."]
    return "\n".join(lines + lines_of_deleted(deleted, refused)) + "\n"


def lines_of_deleted(deleted, refused):
    lines = ["", "## Whether it would be seen", ""]
    if not deleted:
        return lines + ["Not run: `--without-waits 2` does."]
    lines += [f"The same of one recipe ({WITH_WAITS}) without one of its waits, for some that order streams. Bits differ in those "
              "schedules that happen to let one operation overtake the other; a race is found in any, the late one, too, kernel by kernel. A wait is "
              "seen if there is one of these, or the program dies of a signal.", "",
              "| wait left out | steps | random schedules | with other bits | with a race, the late one counted, too | where kernels report, too | seen |",
              "|---|---|---|---|---|---|---|"]
    for name, device, run, raced in deleted:
        counted = f"{run.n} | {run.other_bits} | {run.raced}" if run.counts else f"{run.says} | |"
        seen = "yes" if raced.shows() else "**no**"
        lines.append(f"| {name} | {HOW[device]} | {counted} | {raced.says or 'nothing'} | {seen} |")
    if refused:
        lines += ["", "CUDA refuses to record a step without some other waits, as a stream then takes no part in what is recorded, or has no end. "
                  "Nothing runs as recorded, so that nothing is shown of these here: " + "; ".join(refused) + ". "
                  "`tests/simulator/delete_waits.py` leaves them out with `--recorded`, where what a program says of its steps counts, too."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--raced", type=int, default=1)
    parser.add_argument("--recipes", type=int, default=None)
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4, 8])
    parser.add_argument("--rank-schedules", type=int, default=1)
    parser.add_argument("--without-waits", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1, help="another one tries other schedules than a run before")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.ranks and arguments.rank_schedules < 1:
        parser.error("--rank-schedules must be 1 at least")
    if arguments.recipes == 0 and arguments.without_waits:
        parser.error("without recipes no waits are left out: --recipes 0 needs --without-waits 0")
    head, began, seeds = machine(), time.monotonic(), Seeds(arguments.first_seed)
    build = arguments.build.resolve()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        rows = covering_set(pool, build, seeds, arguments.schedules, arguments.raced, arguments.recipes)
        table = table_of_ranks(pool, build, seeds, arguments.ranks, arguments.rank_schedules) if arguments.ranks else {}
    deleted, refused = without_waits(build, seeds, HOW, arguments.without_waits, rows[0][2].n) if rows else ([], [])
    report = report_of(head, " ".join(["tests/simulator/schedules.py", *sys.argv[1:]]), rows, table, arguments.ranks,
                       arguments.rank_schedules, deleted, refused, time.monotonic() - began)
    print(report)
    if arguments.report:
        arguments.report.write_text(report)
    right = all(run.is_right() for row in rows for run in row[2:]) and all(n == arguments.rank_schedules for n in table.values())
    seen = all(raced.shows() for *_, raced in deleted)
    sys.exit(0 if right and seen else 1)


if __name__ == "__main__":
    main()

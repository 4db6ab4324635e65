#!/usr/bin/env python3
"""delete_waits.py <simulator_waits> <raced_rank> [--recorded] [--share I/N] [--calls N] [--file NAME]: is each wait of the backend needed, and missed where it is not there?

Runs the parts of the first program once, and two or four ranks of the second one, and then again without each place at which it waited, one at a time. A wait is missed
if the program then reports a race, dies of a signal, is refused something by the GPU, or computes something else. One that ends in
another way, as with a call that it does not know, misses nothing.
--recorded does so with steps that the GPU has recorded, for those waits that only they have, most of which are parts of a graph;
--share with the I-th of N shares of the places.
--calls tells places apart by N calls around each other, so that what waits for collectives in one function of the
communicator is tried for each call of the step; --file tries those places alone whose wait is in that source.
Prints a table and ends with 1 if nothing is tried, or a wait is not missed: then it is redundant and is to be removed, or what needs it is not
in the program yet (docs/why/simulator.md).
"""
import argparse
import concurrent.futures
import contextlib
import functools
import itertools
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

LIMIT_S = 300
LENGTH_OF_ERROR = 200
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def ranks(strategy, order, n_ranks=2, device="gpu"):
    """A part of the second program: two steps of four rows."""
    return 1, n_ranks, [device, strategy, order, "late", "0", "2", "4"]


# By part: the program's place among the arguments of this script, how many ranks run it, and its own arguments.
PARTS = {"memory": (0, 1, ["memory"]),
         "steps": (0, 1, ["steps"]),
         "ranks, any order": ranks("FullShard", "any_order"),
         "ranks, fixed tree": ranks("FullShard", "fixed_tree"),
         "replicas of two ranks": ranks("HybridShard", "any_order", n_ranks=4),
         "ranks, all on the host": ranks("DeepOnHost", "any_order"),
         "ranks that reduce once a step": ranks("ReduceOncePerStep", "any_order"),
         "matrices in turns": ranks("MuonFullShard", "any_order"),
         "pairs of texts": ranks("PairsFullShard", "any_order"),
         "a teacher": ranks("TaughtFullShard", "any_order")}
RECORDED_PARTS = {"recorded steps": (0, 1, ["recorded"]),
                  "recorded steps of ranks": ranks("FullShard", "fixed_tree", device="recorded"),
                  "recorded steps of ranks, all on the host": ranks("DeepOnHost", "any_order", device="recorded")}


def environments(n_ranks):
    """Of the processes of so many ranks."""
    if n_ranks == 1:
        return [ENVIRONMENT]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return [{**ENVIRONMENT, "RANK": str(rank), "WORLD_SIZE": str(n_ranks), "LOCAL_RANK": str(rank),
             "LOCAL_WORLD_SIZE": str(n_ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
             "MONOMORPH_SIMULATOR_GPUS": str(n_ranks)} for rank in range(n_ranks)]


def meeting(command, folder):
    """The environment of ranks that meet in a folder, without LibTorch (meeting.cpp), whose module lies beside their program."""
    return {"LD_LIBRARY_PATH": str(pathlib.Path(command[0]).resolve().parent / "simulated_meeting"), "TMPDIR": folder}


def run_ranks(command, n_ranks):
    """By rank, the exit code, the lines that it prints, and what it says of a failure."""
    with contextlib.ExitStack() as files:
        met = meeting(command, files.enter_context(tempfile.TemporaryDirectory())) if n_ranks > 1 else {}
        # A file takes any number of lines while another rank is waited for; a pipe would fill.
        errors = [files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(n_ranks)]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=error, text=True, env={**environment, **met})
                     for environment, error in zip(environments(n_ranks), errors)]
        lines = [process.communicate(timeout=LIMIT_S)[0].splitlines() for process in processes]
        for error in errors:
            error.seek(0)
        return [process.returncode for process in processes], lines, [error.read().strip() for error in errors]


def ending(code, error):
    """How a program ends, with the end of what it says of that."""
    how = f"it dies of {signal.Signals(-code).name}" if code < 0 else f"it ends with {code}"
    return f"{how}: {' '.join(error.split())[-LENGTH_OF_ERROR:]}" if error else how


def run(programs, part, *place):
    """The greatest exit code with what is said of it, and the lines that are printed, of which those that name places are apart."""
    which, n_ranks, arguments = PARTS[part]
    codes, of_ranks, errors = run_ranks([programs[which], *arguments, *place], n_ranks)
    lines = [line for lines in of_ranks for line in lines]
    places = [line.removeprefix("place: ") for line in lines if line.startswith("place: ")]
    worst = max(zip(codes, errors), key=lambda of_rank: abs(of_rank[0]))
    return worst, [line for line in lines if not line.startswith("place: ")], list(dict.fromkeys(places))


def judged(expected, result):
    """Whether a run without a wait shows it, and how. A program that does not run what it is asked shows nothing."""
    (code, error), lines, _ = result
    if any(line.startswith("race: ") for line in lines):
        return True, "a race"
    if code in (-signal.SIGSEGV, -signal.SIGBUS):
        return True, "memory that is gone or out of reach"
    if code < 0 or "[GPU-" in error and code != 0:
        return True, ending(code, error)
    if code != 0:
        return False, ending(code, error)
    return (False, "") if lines == expected else (True, "another result")


def short_name(function):
    """Without its arguments and its namespace; a function object as what it is made in."""
    function = re.sub(r"\{lambda.*", "", function.replace("(anonymous namespace)::", "")).replace("operator()", "")
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)( const)?|\[[^\[\]]*\]", "", function)) != function:
        function = shorter
    parts = [part for part in function.split()[-1].split("::") if part] if function.split() else []
    return "::".join(parts[-2:])


@functools.cache
def called_from(program, place):
    """The line of a wait, and the functions around the call around it, the innermost first."""
    # An address is where a call returns to, so the one before it lies within the call.
    in_graph = place.startswith("graph ")
    addresses = [hex(int(address, 16) - 1) for address in place.removeprefix("graph ").split()]
    result = subprocess.run(["addr2line", "-f", "-C", "-e", program, *addresses], capture_output=True, text=True, check=True)
    function_and_line = result.stdout.splitlines()
    wait = pathlib.Path(function_and_line[1].split()[0]).name
    callers = [name for name, _ in itertools.groupby(map(short_name, function_and_line[2::2])) if name]
    return wait + (f", for {', '.join(callers)}" if callers else "") + (", in a graph" if in_graph else "")


def share(text):
    which, of = map(int, text.split("/"))
    if not 1 <= which <= of:
        raise ValueError(text)
    return which - 1, of


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2)
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument("--share", type=share, default=(0, 1), metavar="I/N")
    parser.add_argument("--calls", type=int, default=1, metavar="N")
    parser.add_argument("--file", default="", metavar="NAME")
    arguments = parser.parse_args()
    ENVIRONMENT["MONOMORPH_SIMULATOR_CALLS"] = str(arguments.calls)
    programs = arguments.programs
    if arguments.recorded:
        PARTS.update(RECORDED_PARTS)
    expected, parts_of, described = {}, {}, set()
    for part, (which, *_) in PARTS.items():
        (code, error), expected[part], places = run(programs, part)
        if code != 0:
            sys.exit(f"delete_waits.py: the part {part} fails with all its waits, {ending(code, error)}\n" +
                     "\n".join(expected[part]))
        # A place of the second program that the first one has, too, is tried there, where that is quicker.
        for place in places:
            if which == 0 or called_from(programs[which], place) not in described:
                parts_of.setdefault((which, place), []).append(part)
        described.update(called_from(programs[0], place) for place in places if which == 0)
    first, every = arguments.share
    tried = [found for found, parts in parts_of.items()
             if (not arguments.recorded or set(parts) <= set(RECORDED_PARTS))
             and called_from(programs[found[0]], found[1]).startswith(arguments.file)][first::every]
    if not tried:
        sys.exit("delete_waits.py: no place waits, so that nothing is tried")

    def judged_without(found):
        """By the first part that misses it."""
        texts = []
        for part in parts_of[found]:
            missed, text = judged(expected[part], run(programs, part, found[1]))
            if missed:
                return True, text
            texts.append(text)
        return False, "; ".join(dict.fromkeys(filter(None, texts)))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        print("| wait left out | missed as |\n|---|---|", flush=True)
        n = 0
        for (which, place), (missed, text) in zip(tried, pool.map(judged_without, tried)):
            print(f"| {called_from(programs[which], place)} | {text if missed else f'**nothing** {text}'.strip()} |", flush=True)
            n += missed
    print(f"\n{n} of {len(tried)} are missed.")
    sys.exit(0 if n == len(tried) else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""judgement.py: schedules.py and delete_waits.py take nothing for shown that has not been: by programs that end as they are told.
Ends with 1 and a line if they do."""
import contextlib
import io
import pathlib
import sys
import tempfile

import delete_waits
import schedules

RIGHT, RACED, OTHER = (f"schedules: 3 raced: {raced} other bits: {other}" for raced, other in ((0, 0), (1, 0), (0, 2)))
# By what a program does (a line of the shell): whether its schedules are right, whether they show that a wait is missing, and what is said.
ENDS = {f"echo {RIGHT}": (True, False, ""),
        f"echo {RACED}; exit 1": (False, True, "a race"),
        f"echo {OTHER}; exit 1": (False, True, "other bits"),
        "kill -SEGV $$": (False, True, "it dies of SIGSEGV"),
        "echo which recipe >&2; exit 2": (False, False, "it ends with 2: which recipe"),
        "echo no memory >&2; exit 1": (False, False, "it ends with 1: no memory"),
        "exit 0": (False, False, "it ends with 0")}
# By (exit code, standard error, lines): whether a wait is missed where lines are a, b with it.
MISSED = {(0, "", "ab"): False, (0, "", "a"): True, (1, "", ("race: x",)): True, (-11, "", "a"): True, (-6, "what", "a"): True,
          (1, "[GPU-02] the GPU failed", "a"): True, (1, "[RANK-12] a rank has not come", "a"): False, (2, "", ""): False}


def require(right, line):
    if not right:
        sys.exit(f"judgement.py: {line}")


def program(folder, name, line):
    path = pathlib.Path(folder) / name
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return path


def exit_of(call):
    """What ends the program, or None."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            call()
        except SystemExit as end:
            return end.code
    return None


def check_runs(folder):
    for line, (right, shows, says) in ENDS.items():
        run = schedules.Run(program(folder, "ends", line), "recipe", "gpu", 1, 3)
        require((run.is_right(), run.shows(), run.says) == (right, shows, says), f"of `{line}` is said: {run.says}")


def check_without_waits(folder):
    """Place 1 is of a stream; without it the steps race, are not recorded, or fail."""
    def leaves(devices, places, without):
        for name in ("raced_schedules", "simulated_schedules"):
            program(folder, name, f'if [ $# = 5 ]; then {without}; fi; {places} echo {RIGHT}')
        schedules._places.clear()
        return schedules.without_waits(pathlib.Path(folder), schedules.Seeds(), devices, 1, 3)

    delete_waits.called_from = lambda _, place: f"wait {place}, for a step"
    place, in_graph, race = "echo place: 1;", "echo place: graph 1;", f"echo {RACED}; exit 1"
    rows, refused = leaves(["gpu"], place, race)
    require(len(rows) == 1 and rows[0][3].shows() and not refused, "a wait that is missed by a race must be a row")
    rows, refused = leaves(["recorded"], in_graph, race)
    require(len(rows) == 1 and rows[0][3].shows() and not refused, "a recorded wait that is missed by a race must be a row")
    rows, _ = leaves(["gpu"], place, "exit 2")
    require(len(rows) == 1 and not rows[0][3].shows(), "a program that refuses its arguments must show nothing")
    refuses = "echo steps are not recorded >&2; exit 2"
    for devices, places, without in ((["gpu"], "", race), (["recorded"], place, race), (["recorded"], in_graph, refuses)):
        ended = exit_of(lambda: leaves(devices, places, without))
        require("are not there" in str(ended), f"a wait that is not there must end the program, and {ended} does")


def check_delete_waits(folder):
    for (code, error, lines), missed in MISSED.items():
        found = delete_waits.judged(list("ab"), ((code, error), list(lines), []))
        require(found[0] == missed, f"of an end with {code} and {error!r} is said: {found}")
    nothing = program(folder, "nothing", "echo loss 1")
    sys.argv = ["delete_waits.py", str(nothing), str(nothing)]
    require("nothing is tried" in str(exit_of(delete_waits.main)), "no place to try must end the program")
    codes, _, errors = delete_waits.run_ranks([program(folder, "fails", "echo rank $RANK is out >&2; exit 1")], 2)
    require(codes == [1, 1] and errors == ["rank 0 is out", "rank 1 is out"], f"of failing ranks is kept: {errors}")
    says = schedules.steps_of(folder + "/fails", 2, [])
    require(says == "rank 0: it ends with 1: rank 0 is out; rank 1: it ends with 1: rank 1 is out", f"of failing ranks is said: {says}")


def check_report():
    report = schedules.report_of("a machine", "a command", [], {}, [], 1, [], [], 0)
    require(report.count("Not run") == 2, "what was not asked for must be told as not run")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_runs(folder)
        check_without_waits(folder)
        check_delete_waits(folder)
    check_report()


if __name__ == "__main__":
    main()

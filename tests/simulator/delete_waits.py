#!/usr/bin/env python3
"""delete_waits.py <simulator_waits>: is each wait of the backend needed, and missed where it is not there?

Runs both parts of the program once, and then again without each place at which it waited, one at a time. A wait is missed
if the program then reports a race, ends otherwise, or computes something else.
Prints a table and ends with 1 if a wait is not missed: then it is redundant and is to be removed, or what needs it is not
in the program yet (docs/why/simulator.md).
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

LIMIT_S = 300
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def run(program, part, *place):
    """The exit code, and the lines that it prints, of which those that name places are apart."""
    result = subprocess.run([program, part, *place], capture_output=True, text=True, timeout=LIMIT_S, env=ENVIRONMENT)
    lines = result.stdout.splitlines()
    places = [line.removeprefix("place: ") for line in lines if line.startswith("place: ")]
    return result.returncode, [line for line in lines if not line.startswith("place: ")], places


def why_missed(expected, result):
    """How a run without a wait differs, or None."""
    code, lines, _ = result
    races = [line for line in lines if line.startswith("race: ")]
    if races:
        return "a race"
    if code != 0:
        return f"it ends with {code}" if code > 0 else "memory that is gone or out of reach"
    return None if lines == expected else "another result"


def called_from(program, place):
    """The line of a wait, and the function around the call around it."""
    # An address is where a call returns to, so the one before it lies within the call.
    addresses = [hex(int(address, 16) - 1) for address in place.split()]
    result = subprocess.run(["addr2line", "-f", "-C", "-e", program, *addresses], capture_output=True, text=True, check=True)
    function_and_line = result.stdout.splitlines()
    wait = pathlib.Path(function_and_line[1].split()[0]).name
    return f"{wait}, for {re.sub('<.*>|[(].*', '', function_and_line[2])}" if len(addresses) > 1 else wait


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    expected, parts_of = {}, {}
    for part in ("memory", "steps"):
        code, expected[part], places = run(program, part)
        if code != 0:
            sys.exit(f"delete_waits.py: {program} {part} fails with all its waits:\n" + "\n".join(expected[part]))
        for place in places:
            parts_of.setdefault(place, []).append(part)

    def reason_for(place):
        reasons = (why_missed(expected[part], run(program, part, place)) for part in parts_of[place])
        return next((reason for reason in reasons if reason), None)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        print("| wait | missed as |\n|---|---|")
        n = 0
        for place, reason in zip(parts_of, pool.map(reason_for, parts_of)):
            print(f"| {called_from(program, place)} | {reason or '**nothing**'} |", flush=True)
            n += reason is not None
    print(f"\n{n} of {len(parts_of)} are missed.")
    sys.exit(0 if n == len(parts_of) else 1)


if __name__ == "__main__":
    main()

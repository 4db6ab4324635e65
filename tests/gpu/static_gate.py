"""static_gate.py <cuobjdump> <a file that lists object files, one a line>: what nvcc has made of the kernels for GPUs.

No kernel may have a stack or local memory, which is where spilled registers are; none may add floating-point numbers
atomically, as the order would decide about bits; and those that stream must read and write 16 bytes at once. What kernels use
is read for each architecture. All of these are made of one intermediate code, in which atomics are looked for, and which
settles how wide accesses are, so that one machine code is enough to read. Prints all that is wrong and ends with 1, or what
it has read.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

READ = "sm_90"  # the architecture whose machine code is read
# Kernels that read and write rows at the bandwidth of the memory. What `map` makes is known by its name.
STREAMING = {"gate_backward_rows", "sum_rows", "cross_entropies", "compare_models", "drop_rows", "embed", "sum_lists", "normalise",
             "normalise_and_rotate", "backward", "update_elements", "gather", "combine", "add_up_parts", "rotate_rows", "round_tiles"}
FLOATING_ATOMIC = re.compile(r"\b(?:red|atom)\.[\w.]*\.(?:f16|f16x2|bf16|bf16x2|f32|f64)\b.*")
INSTRUCTION = re.compile(r" {8}/\*[0-9a-f]{4,}\*/ +(?:@!?U?P\w+ +)?([A-Z][\w.]*)")
LOCAL_ACCESS = re.compile(r"(LDL|STL)\b")
WIDE_ACCESS = re.compile(r"(LDG|STG)\..*\b128\b")
# A mangled instance of the kernel `map` that takes more than one element at a time: map<float, 4, ...>.
MAP_OF_PACKS = re.compile(r"\d+_GLOBAL__N__.*3mapI[a-z]Li(?!1E)\d+E")


def printed(cuobjdump, file, *what):
    # cuobjdump calls nvdisasm, which lies beside it.
    path = f"{pathlib.Path(cuobjdump).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run([cuobjdump, *what, file], check=True, capture_output=True, text=True,
                          env={**os.environ, "PATH": path}).stdout


def readable(kernels):
    """Names, one a line, as their sources have them."""
    return subprocess.run(["c++filt"], input=kernels, capture_output=True, text=True).stdout.strip()


def complaints_of_usage(usage):
    for match in re.finditer(r"arch = (\w+)|Function (\S+):\n.*STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", usage):
        if match[1]:
            architecture = match[1]
        elif match[3] != "0" or match[4] != "0":
            yield (f"{readable(match[2])} for {architecture} has {match[3]} bytes of stack and {match[4]} of local memory; "
                   "let it hold less at once")


def kernels(machine_code):
    """The names of kernels, and the opcodes of each."""
    found = {}
    for line in machine_code.splitlines():
        if match := INSTRUCTION.match(line):
            opcodes.add(match[1])
        elif match := re.match(r"\s+Function : (\S+)", line):
            opcodes = found[match[1]] = set()
    return found


def name_of(kernel):
    """Of a readable one, without its namespaces, template arguments and parameters."""
    return re.match(r"(?:void )?(?:\S*\(anonymous namespace\)::)?(\w+)", kernel)[1]


def complaints_of_kernels(found):
    """What single instances do, and what all instances of a kernel that streams never do."""
    wide = {}
    for (kernel, opcodes), name in zip(found.items(), readable("\n".join(found)).splitlines()):
        local = [opcode for opcode in opcodes if LOCAL_ACCESS.match(opcode)]
        if local:
            yield f"{name} accesses local memory ({', '.join(local)}); let it hold less at once"
        accesses = {match[1] for opcode in opcodes if (match := WIDE_ACCESS.match(opcode))}
        wide.setdefault(name_of(name), set()).update(accesses)
        if MAP_OF_PACKS.search(kernel) and not accesses:
            yield f"{name} accesses no 16 bytes at once; let the accesses of a pack be one"
    for streaming in wide.keys() & STREAMING:
        if wide[streaming] != {"LDG", "STG"}:
            yield f"{streaming} has no LDG or no STG of 16 bytes; read and write packs"


def complaints_of(cuobjdump, file):
    """@return complaints about an object file, and how many kernels it has."""
    stem = pathlib.Path(file).name.removesuffix(".o").removesuffix(".cu")
    usage = printed(cuobjdump, file, "-res-usage")
    found = kernels(printed(cuobjdump, file, "-sass", "-arch", READ))
    n_kernels = len(re.findall(r"Function \S+:\n.*STACK:\d+ SHARED:\d+ LOCAL:\d+", usage))
    complaints = [*complaints_of_usage(usage), *complaints_of_kernels(found)]
    intermediate = printed(cuobjdump, file, "-ptx")
    if n_kernels > 0 and not (found and ".entry" in intermediate):
        complaints.append(f"there is no code for {READ}, or no intermediate code; has what nvcc is told changed?")
    for match in FLOATING_ATOMIC.finditer(intermediate):
        complaints.append(f"{match[0]} has an order that changes; sum in a fixed one")
    return [f"{stem}: {complaint}" for complaint in complaints], n_kernels


def main():
    cuobjdump, objects = sys.argv[1], pathlib.Path(sys.argv[2]).read_text().splitlines()
    if cuobjdump.endswith("NOTFOUND"):
        print("this-test-case-is-skipped: there is no cuobjdump here; tools/setup/install --gpu brings it")
        return 0
    with concurrent.futures.ProcessPoolExecutor() as pool:
        results = list(pool.map(complaints_of, [cuobjdump] * len(objects), objects))
    n_kernels = sum(n for _, n in results)
    complaints = [complaint for found, _ in results for complaint in found]
    if n_kernels == 0:
        complaints.append("cuobjdump has named no kernel; has what it prints changed?")
    print("\n".join(complaints) or f"{n_kernels} kernels in {len(objects)} files are as they should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

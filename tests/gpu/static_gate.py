"""static_gate.py <cuobjdump> <a file that lists object files, one a line>: what nvcc has made of the kernels for GPUs.

No kernel may have a stack or local memory, which is where spilled registers are; none may add floating-point numbers
atomically, as the order would decide about bits; and those that stream must read and write 16 bytes at once, in each instance
that works in packs. Each is in a list that says which of this is asked of it. The machine code of each architecture is read, and for atomics the intermediate code,
too, of which newer GPUs make theirs. Prints all that is wrong and ends with 1, or what it has read.
"""
import concurrent.futures
import functools
import pathlib
import re
import subprocess
import sys
import tempfile

ARCHITECTURES = ("sm_80", "sm_90")  # whose machine code is read
INSTRUCTION_BYTES = 16
# Kernels that move rows at the bandwidth of the memory read and write 16 bytes at once; some only read or only write as much,
# as what they write is a sum, or what they read are codes. `map` is asked for it in each instance. The others compute in tiles,
# have little to move, or take single elements.
STREAMING = {"add_up_parts", "backward", "backward_long", "combine", "compare_models", "cross_entropies", "drop_rows", "embed",
             "gate_backward_rows", "gather", "normalise", "normalise_and_rotate", "normalise_long", "rotate_rows",
             "sum_lists", "update_elements", "weigh_backward", "write_tiles"}
READING = {"greatest_of_blocks", "multiply", "multiply_backward", "multiply_transposed", "sum_blocks", "sum_rows"}
WRITING = {"draw_elements", "make_numbers"}
OTHERS = {"add_counts", "add_losses", "add_metrics", "add_samples", "add_up", "add_up_blocks", "add_up_chunks", "attend", "choose",
          "choose_backward", "choose_scales", "compare_with_mean", "count_pairs", "invert_norm", "join_greatest", "join_sums",
          "key_gradients", "look", "map", "map_any", "metrics_stay", "micro_batch_begins", "micro_batch_ends", "one_more", "place_pairs", "pool",
          "pool_backward", "query_gradients", "record", "scatter", "score_samples", "step_begins", "step_ends", "sum_losses",
          "to_unit_length", "to_unit_length_backward", "words_are_read", "words_are_written", "write_rows"}
WIDE_ACCESSES = {**dict.fromkeys(STREAMING, {"LDG", "STG"}), **dict.fromkeys(READING, {"LDG"}), **dict.fromkeys(WRITING, {"STG"}),
                 **dict.fromkeys(OTHERS, set())}
# Which of a kernel's template arguments is how many elements it takes at once, or whether it takes packs: instances for one, or
# for none, are those for views that are not aligned. Kernels that are not named here take packs in each instance, or say when
# they run.
WIDTH_AT = {"add_up_parts": 1, "backward": 4, "backward_long": 1, "combine": 0, "compare_models": 1, "cross_entropies": 0, "drop_rows": 1,
            "embed": 0, "gate_backward_rows": 1, "gather": 0, "greatest_of_blocks": 0, "normalise": 2, "normalise_and_rotate": 0,
            "normalise_long": 1, "rotate_rows": 0, "sum_lists": 1, "sum_rows": 0, "weigh_backward": 0}
IS_PACKED_AT = {"backward": 3, "backward_long": 0, "normalise_long": 0}
# Instances whose packs are smaller, with how many bits of an access are asked of them, and why. They have the same names without
# namespaces.
SMALLER_PACKS = [
    (r"draw_elements<(BFloat16|Half), NormalNumbers<\w+> ?>", 64, "a counter's random words make four numbers"),
    (r"draw_elements<float, UniformNumbers>", 64, "a counter's random words make two numbers"),
    (r"draw_elements<(BFloat16|Half), UniformNumbers>", 32, "a counter's random words make two numbers"),
    (r"multiply(_backward)?<(BFloat16|Half)>\(Groups", 64, "each thread brings four elements at once to a tile"),
    (r"multiply_transposed<(BFloat16, BFloat16|Half, Half)>\(Groups", 64, "each thread brings four elements at once to a tile"),
    (r"normalise(_long)?<.*, 8, BFloat16, ToRounded>", 64, "eight codes of fp8 have 8 bytes"),
    (r"sum_lists<\(Order\)\d, 4, \w+, (BFloat16|Half)>", 64, "four columns at once, for all dtypes"),
    (r"greatest_of_blocks<4, (BFloat16|Half)>", 64, "four elements at once, for all dtypes"),
    (r"sum_blocks<\w+, (BFloat16|Half)>", 64, "four elements at once, for all dtypes"),
    (r"update_elements<Updater<\w+, float, (\w+, )*BFloat16>", 64, "four elements at once, of which some have 16 bits"),
]
MAP_OF_PACKS = re.compile(r"\bmap<")

# A loop of compare and swap adds what has no instruction, such as 16 bits.
FLOATING_ATOMIC = re.compile(r"\b(?:red|atom)\.(?:[\w.]*\.)?(?:f16|f16x2|bf16|bf16x2|f32|f64|cas)\b.*")
FLOATING_ATOMIC_OPCODE = re.compile(r"(?:REDG?|ATOM[GS]?)\.(?:[\w.]*\.)?(?:B?F(?:16|32|64)|CAS\b)")
INSTRUCTION = re.compile(r"^ {8}/\*[0-9a-f]{4,}\*/ +(?:@!?U?P\w+ +)?([A-Z][\w.]*)", re.MULTILINE)
LOCAL_ACCESS = re.compile(r"(LDL|STL)\b")
GLOBAL_ACCESS = re.compile(r"(LDG|STG)\.(?:.*\b(U8|S8|U16|S16|64|128)\b)?")


def printed(*command, **how):
    return subprocess.run(command, check=True, capture_output=True, text=True, **how).stdout


def readable(kernels):
    """Names as their sources have them."""
    return printed("c++filt", input="\n".join(kernels)).splitlines()


def name_of(kernel):
    """Of a readable one, without its namespaces, template arguments and parameters."""
    return re.match(r"(?:void )?(?:\S*\(anonymous namespace\)::)?(\w+)", kernel)[1]


def template_arguments(kernel):
    """Of a readable one, as texts; none if it is no instance of a template."""
    text = re.sub(r"^(?:void )?(?:\S*\(anonymous namespace\)::)?\w+", "", kernel)
    arguments, depth = [""], 0
    for letter in text if text.startswith("<") else "":
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if depth == 0:
            return [argument.strip() for argument in arguments]
        if depth == 1 and letter == ",":
            arguments.append("")
        elif depth > 1 or letter != "<":
            arguments[-1] += letter
    return []


def takes_packs(kernel):
    name, arguments = name_of(kernel), template_arguments(kernel)
    if not arguments:
        return True
    is_packed = name not in IS_PACKED_AT or arguments[IS_PACKED_AT[name]] == "true"
    return is_packed and (name not in WIDTH_AT or int(arguments[WIDTH_AT[name]]) > 1)


def without_namespaces(kernel):
    return re.sub(r"^void |monomorph::|cuda::|\(anonymous namespace\)::", "", kernel)


def smaller_pack(kernel):
    """@return which of SMALLER_PACKS it is, if any"""
    return next((which for which, (pattern, *_) in enumerate(SMALLER_PACKS) if re.match(pattern, without_namespaces(kernel))), None)


def bits_of_accesses(opcodes):
    """The widest accesses to global memory, by LDG and STG."""
    widest = {"LDG": 0, "STG": 0}
    for match in filter(None, map(GLOBAL_ACCESS.match, opcodes)):
        bits = 32 if match[2] is None else int(match[2].lstrip("US"))
        widest[match[1]] = max(widest[match[1]], bits)
    return widest


def stem(file):
    return pathlib.Path(file).name.removesuffix(".o").removesuffix(".cu")


def read_usage(cuobjdump, file):
    """@return complaints about what the kernels of a file use, and their names."""
    complaints, kernels = [], set()
    usage = printed(cuobjdump, "-res-usage", file)
    for match in re.finditer(r"arch = (\w+)|Function (\S+):\n.*STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", usage):
        if match[1]:
            architecture = match[1]
            continue
        kernels.add(match[2])
        if match[3] != "0" or match[4] != "0":
            complaints.append(f"{readable([match[2]])[0]} for {architecture} has {match[3]} bytes of stack and {match[4]} of local "
                              "memory; let it hold less at once")
    return complaints, kernels


def complaints_of_intermediate_code(code):
    if ".entry" not in code:
        yield "there is no intermediate code; has what nvcc is told changed?"
    for match in FLOATING_ATOMIC.finditer(code):
        yield f"{match[0]} has an order that changes; sum in a fixed one"


def read_file(cuobjdump, file):
    """@return complaints about a file, except for its machine code, and the names of its kernels."""
    complaints, kernels = read_usage(cuobjdump, file)
    if kernels:
        complaints += complaints_of_intermediate_code(printed(cuobjdump, "-ptx", file))
    return [f"{stem(file)}: {complaint}" for complaint in complaints], kernels


def instructions_of_kernels(cuobjdump, file, architecture):
    """The distinct instructions of each kernel."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        printed(cuobjdump, "-xelf", f".{architecture}.", pathlib.Path(file).resolve(), cwd=folder)
        for cubin in pathlib.Path(folder).iterdir():
            content = cubin.read_bytes()
            for kernel, *place in re.findall(r" \.text\.(\S+) +PROGBITS +\w+ (\w+) (\w+)", printed("readelf", "-SW", cubin)):
                first, size = (int(number, 16) for number in place)
                found[kernel] = {content[at:at + INSTRUCTION_BYTES] for at in range(first, first + size, INSTRUCTION_BYTES)}
    return found


def opcodes_of(nvdisasm, instructions, architecture):
    """The opcode of each instruction. Instances of kernels share most, so that each is read once."""
    instructions = list(instructions)
    if not instructions:
        return {}
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(instructions))
        file.flush()
        opcodes = INSTRUCTION.findall(printed(nvdisasm, "-b", architecture.replace("sm_", "SM"), file.name))
    return dict(zip(instructions, opcodes, strict=True))


def complaints_of_kernels(found):
    """@param found the opcodes of each kernel, by readable names"""
    in_packs = set()
    for name, opcodes in sorted(found.items()):
        if local := sorted(filter(LOCAL_ACCESS.match, opcodes)):
            yield f"{name} accesses local memory ({', '.join(local)}); let it hold less at once"
        if atomics := sorted(filter(FLOATING_ATOMIC_OPCODE.match, opcodes)):
            yield f"{name} has {', '.join(atomics)}, with an order that changes; sum in a fixed one"
        widest = bits_of_accesses(opcodes)
        if MAP_OF_PACKS.search(name) and max(widest.values()) < 128:
            yield f"{name} accesses no 16 bytes at once; let the accesses of a pack be one"
        if not takes_packs(name):
            continue
        in_packs.add(name_of(name))
        which = smaller_pack(name)
        asked = 128 if which is None else SMALLER_PACKS[which][1]
        if lacking := sorted(access for access in WIDE_ACCESSES.get(name_of(name), set()) if widest[access] < asked):
            yield f"{name} has no {' and no '.join(lacking)} of {asked // 8} bytes; read and write packs"
    for name in sorted(set(map(name_of, found)) - in_packs):
        yield f"{name} has no instance that takes packs; has WIDTH_AT or IS_PACKED_AT of static_gate.py another argument?"


def complaints_of_machine_code(cuobjdump, kernels, architecture):
    """@param kernels those of each file, of which none may be missed"""
    read = {file: instructions_of_kernels(cuobjdump, file, architecture) for file in kernels}
    distinct = {instruction for of_file in read.values() for of_kernel in of_file.values() for instruction in of_kernel}
    opcodes = opcodes_of(pathlib.Path(cuobjdump).with_name("nvdisasm"), distinct, architecture)
    complaints = []
    for file, of_file in read.items():
        found = {name: {opcodes[instruction] for instruction in of_kernel}
                 for name, of_kernel in zip(readable(of_file), of_file.values(), strict=True)}
        of_code = [f"{name} has no code; has what nvcc is told changed?" for name in readable(sorted(kernels[file] - of_file.keys()))]
        complaints += (f"{stem(file)}, {architecture}: {complaint}" for complaint in [*of_code, *complaints_of_kernels(found)])
    return complaints


def complaints_of_lists(kernels):
    names = set(map(name_of, readable(kernels)))
    for name in sorted(names - set(WIDE_ACCESSES)):
        yield f"{name} is in no list of static_gate.py; say there whether it streams"
    if unknown := sorted(set(WIDE_ACCESSES) - names):
        yield f"no kernel has a name that static_gate.py lists: {', '.join(unknown)}; follow what was renamed"
    used = set(map(smaller_pack, readable(kernels)))
    for which, (pattern, *_) in enumerate(SMALLER_PACKS):
        if which not in used:
            yield f"no kernel has a name like {pattern} of static_gate.py; drop what is no exception any more"


def read_all(cuobjdump, files):
    """@return complaints, and how many kernels there are."""
    with concurrent.futures.ProcessPoolExecutor() as pool:
        of_files = list(pool.map(functools.partial(read_file, cuobjdump), files))
        complaints = [complaint for of_file, _ in of_files for complaint in of_file]
        kernels = {file: of_file for file, (_, of_file) in zip(files, of_files) if of_file}
        if not kernels:
            return ["cuobjdump has named no kernel; has what it prints changed?"], 0
        for of_architecture in pool.map(functools.partial(complaints_of_machine_code, cuobjdump, kernels), ARCHITECTURES):
            complaints += of_architecture
    names = [kernel for of_file in kernels.values() for kernel in of_file]
    return [*complaints, *complaints_of_lists(names)], len(names)


def main():
    cuobjdump, files = sys.argv[1], pathlib.Path(sys.argv[2]).read_text().splitlines()
    if cuobjdump.endswith("NOTFOUND"):
        print("this-test-case-is-skipped: there is no cuobjdump here; tools/setup/install --gpu brings it")
        return 0
    complaints, n_kernels = read_all(cuobjdump, files)
    print("\n".join(complaints) or
          f"{n_kernels} kernels in {len(files)} files are as they should be, for {' and '.join(ARCHITECTURES)}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

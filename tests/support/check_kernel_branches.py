"""check_kernel_branches.py <the sources>: kernels are the same lines on the emulator as on a GPU (docs/why/emulator.md).

Sources of kernels, and headers that they share with CPUs, have no conditional lines for the preprocessor but those that
are listed here, and other sources none that name a compiler of CUDA or the emulator. Prints all that is wrong and ends
with 1.
"""
import pathlib
import re
import sys

KERNELS = ("src/runtime/cuda", "src/runtime/kernels")
OTHERS = ("include", "src")
CONDITION = re.compile(r"\s*#\s*(?:if|ifdef|ifndef|elif|elifdef|elifndef)\b(.*)")
CUDA = re.compile(r"__CUDA|__NVCC|emulat", re.IGNORECASE)

ALLOWED = {
    # The emulator differs from a GPU here alone: a host's compiler has no __shared__.
    "src/runtime/cuda/launch/block_memory.hpp": ["__NVCC__"],
    # A GPU, of which the emulator is one (device/before_kernels.h), or a CPU, whose kernels include these, too.
    "src/runtime/kernels/host_device.hpp": ["__CUDACC__", "__CUDACC__"],
    "src/runtime/kernels/elements.hpp": ["__CUDACC__", "__CUDA_ARCH__"],
    "src/runtime/kernels/fp8.hpp": ["__CUDACC__", "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890"],
    "src/runtime/kernels/drawn_numbers.hpp": ["__CUDA_ARCH__"],
    # A rule about recipes, of which nvcc's front end can evaluate less.
    "include/monomorph/rule/block_rules.hpp": ["__CUDACC__"],
}


def conditions_of(root):
    """By file the conditions of its lines, in order, each with its line's number."""
    found = {}
    for base in OTHERS:
        for file in sorted((root / base).rglob("*")):
            if file.suffix not in (".hpp", ".h", ".cpp", ".cu", ".in"):
                continue
            name = file.relative_to(root).as_posix()
            of_kernels = name.startswith(tuple(folder + "/" for folder in KERNELS))
            for number, line in enumerate(file.read_text().splitlines(), 1):
                condition = CONDITION.match(line)
                if condition and (of_kernels or CUDA.search(condition[1])):
                    found.setdefault(name, []).append((number, condition[1].split("//")[0].strip()))
    return found


def complaints(root):
    found = conditions_of(root)
    for name, conditions in found.items():
        left = list(ALLOWED.get(name, ()))
        for number, condition in conditions:
            if condition in left:
                left.remove(condition)
            else:
                yield (f"{name}:{number} has a branch, on {condition or 'nothing'}: let tests/emulator/device/ have what "
                       "kernels use of CUDA, by CUDA's name; where that can't be, list the branch in "
                       "tests/support/check_kernel_branches.py and say why")
    for name, allowed in ALLOWED.items():
        conditions = [condition for _, condition in found.get(name, ())]
        for condition in set(allowed):
            if conditions.count(condition) < allowed.count(condition):
                yield f"{name} has no longer each branch on {condition} that check_kernel_branches.py lists; remove it there"


found = list(complaints(pathlib.Path(sys.argv[1])))
print("\n".join(found))
sys.exit(1 if found else 0)

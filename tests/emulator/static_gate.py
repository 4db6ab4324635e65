"""static_gate.py <nvcc> <the sources> <a folder to build in>: what nvcc makes of the kernels for GPUs.

Compiles src/runtime/cuda/*.cu for sm_80 and sm_90. No kernel may have a stack or spill registers, none may add
floating-point numbers atomically, as the order would decide about bits, and those that stream must read and write 16
bytes at once. Prints all that is wrong and ends with 1.
"""
import pathlib
import re
import subprocess
import sys

ARCHITECTURES = (80, 90)
STREAMING = ("activation", "column_sums", "cross_entropy", "dropout", "elementwise", "embedding", "norm", "norm_backward",
             "optimizer", "pairwise_sum", "rotary")
WITHOUT_KERNELS = ("launch", "step_scalars")
FLAGS = ["-std=c++20", "--expt-relaxed-constexpr", "-fmad=false", "-DMONOMORPH_BELOW_FIREWALL"]
# 16 bytes are four words or two long ones.
WIDE = {verb: re.compile(rf"\b{verb}\.global(\.\w+)*\.(v4\.[bfu]32|v2\.[bfu]64)") for verb in ("ld", "st")}
FLOATING_ATOMIC = re.compile(r"\b(red|atom)\.[\w.]*\.(f16|f16x2|bf16|bf16x2|f32|f64)\b.*")


def compiled(nvcc, root, folder, source):
    """Starts nvcc on a source, which leaves its PTX in the folder."""
    code = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in ARCHITECTURES]
    return subprocess.Popen(
        [nvcc, *FLAGS, f"-I{root}/src", f"-I{root}/include", *code, "-Xptxas", "-v", "--keep", "--keep-dir", folder,
         "-c", source, "-o", folder / (source.stem + ".o")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def complaints_of_ptxas(text):
    kernel, stacks = "", 0
    for line in text.splitlines():
        if match := re.search(r"Function properties for (\S+)", line):
            kernel = match[1]
        if match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            stacks += 1
            if any(int(n) for n in match.groups()):
                yield f"{kernel}: {line.strip()}; let it hold less at once"
    if stacks == 0:
        yield "ptxas has named no kernel; has what it prints changed?"


def complaints_of_ptx(name, text):
    for match in FLOATING_ATOMIC.finditer(text):
        yield f"{match[0]} has an order that changes; sum in a fixed one"
    for verb, wide in WIDE.items():
        if name in STREAMING and not wide.search(text):
            yield f"no {verb}.global of 16 bytes; read and write packs"


def complaints(nvcc, root, folder):
    sources = [s for s in sorted((root / "src/runtime/cuda").glob("*.cu")) if s.stem not in WITHOUT_KERNELS]
    for source in sources:
        (folder / source.stem).mkdir(parents=True, exist_ok=True)
    for source, nvcc_run in [(s, compiled(nvcc, root, folder / s.stem, s)) for s in sources]:
        text = nvcc_run.communicate()[0]
        if nvcc_run.returncode != 0:
            yield f"{source.name}: {text}"
            continue
        for complaint in complaints_of_ptxas(text):
            yield f"{source.name}: {complaint}"
        for ptx in (folder / source.stem).glob("*.ptx"):
            for complaint in complaints_of_ptx(source.stem, ptx.read_text()):
                yield f"{source.name}: {complaint}"


if sys.argv[1].endswith("NOTFOUND"):
    print("this-test-case-is-skipped: there is no nvcc here")
    sys.exit(0)
found = list(complaints(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])))
print("\n".join(found))
sys.exit(1 if found else 0)

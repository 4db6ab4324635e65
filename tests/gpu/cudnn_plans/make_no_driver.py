#!/usr/bin/env python3
"""make_no_driver.py <nm> <the toolkit's stub of libcuda> <file>: writes the source of a libcuda.so.1 for machines without a driver.

It has every function that a driver has. Those that take a compiled kernel say that they have it, as cuDNN hands over what it
has compiled before it says what memory a kernel needs; all others return CUDA_ERROR_NO_DEVICE, so that nothing can run.
"""
import pathlib
import subprocess
import sys

NO_DEVICE = 100
TAKE_KERNELS = {"cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction", "cuModuleLoadData", "cuModuleLoadDataEx",
                "cuModuleGetFunction"}
SUCCEED = {"cuLibraryUnload", "cuModuleUnload", "cuKernelSetAttribute", "cuFuncSetAttribute"}


def definition(name):
    if name in TAKE_KERNELS:
        return f'extern "C" int {name}(void** made) {{ *made = &something; return 0; }}'
    return f'extern "C" int {name}() {{ return {0 if name in SUCCEED else NO_DEVICE}; }}'


def main():
    nm, stub, output = sys.argv[1:]
    symbols = subprocess.run([nm, "-D", "--defined-only", stub], check=True, capture_output=True, text=True).stdout
    names = sorted(line.split()[-1] for line in symbols.splitlines() if line.split()[-1].startswith("cu"))
    missing = (TAKE_KERNELS | SUCCEED) - set(names)
    if missing:
        sys.exit(f"make_no_driver.py: {stub} has no {', '.join(sorted(missing))}")
    pathlib.Path(output).write_text("static int something;\n" + "\n".join(map(definition, names)) + "\n")


main()

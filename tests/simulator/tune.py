"""tools/gpu/tune on what a program has measured: which lines a table gets, keeps and loses.

Called with the path of tools/gpu/tune.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

TUNE = sys.argv[1]
ALGORITHMS = ("1" * 128, "2" * 128)


def line(product, algorithm=0, place="sm90 130000"):
    return f"{place} {product} {ALGORITHMS[algorithm]} {'0' * 16}"


def run(folder, products, *arguments):
    program = folder / "program"
    program.write_text("#!/bin/sh\ncat <<'END'\n" + "".join(json.dumps(p) + "\n" for p in products) + "END\n")
    program.chmod(0o755)
    return subprocess.run([sys.executable, TUNE, "--table", folder / "table", *arguments, program], capture_output=True, text=True)


def product(name, first, best, rank=1):
    return {"first_ms": first, "best_ms": best, "best": rank, "line": line(name, 1)}


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    table = folder / "table"
    table.write_text("# a note\n" + line("m2", 0) + "\n" + line("m3", 0) + "\n" + line("m2", 0, "sm80 130000") + "\n")
    result = run(folder, [product("m1", 2.0, 1.0), product("m2", 2.0, 1.5), product("m3", 1.01, 1.0), product("m4", 1, 1, 0)])
    assert result.returncode == 0, result.stderr
    assert "4 products" in result.stdout and "save 1.510 ms" in result.stdout, result.stdout
    expected = ["# a note", line("m2", 0, "sm80 130000"), line("m1", 1), line("m2", 1)]
    assert table.read_text().splitlines() == expected, table.read_text()
    # What is measured again gives the same table; less than the gain that is asked for gives none.
    assert run(folder, [product("m1", 2.0, 1.0)]).returncode == 0
    assert table.read_text().splitlines() == expected
    assert run(folder, [product("m1", 2.0, 1.0)], "--gain", "150").returncode == 0
    assert line("m1", 1) not in table.read_text()
    (folder / "program").write_text("#!/bin/sh\necho no GPU >&2\nexit 1\n")
    result = subprocess.run([sys.executable, TUNE, "--table", table, folder / "program"], capture_output=True, text=True)
    assert result.returncode == 1 and "fails: no GPU" in result.stderr, result.stderr

"""check_include_directions.py <the sources>: folders include each other as the table in docs/architecture.md says.

A folder of src/ and the one of the same name in include/monomorph/ are one; a header beside them, such as recipe.hpp, is
a folder of its own. Prints all that is wrong and ends with 1.
"""
import pathlib
import re
import sys

TABLE = "docs/architecture.md"
ROOTS = ("include/monomorph", "src")
INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<(monomorph/[^>]+)>)')


def rows_of(page):
    """The table: by folder, in the order of the rows, the folders that its row names."""
    rows = {}
    for line in page.read_text().split("| folder | holds | may include |")[1].splitlines()[2:]:
        if not line.startswith("|"):
            break
        folders, _, named = line.strip("|").split("|")
        for folder in re.findall("`([^`]+)`", folders):
            rows[folder] = re.findall("`([^`]+)`", named)
    return rows


def folder_of(file):
    """Of a path below include/monomorph/ or src/."""
    parent = file.parent.as_posix()
    return file.name if parent == "." else parent


def sources_of(root):
    """The path below include/monomorph/ or src/ of each source file, by its path below the root."""
    return {
        file.relative_to(root): file.relative_to(root / base)
        for base in ROOTS
        for file in sorted((root / base).rglob("*"))
        if file.suffix in (".hpp", ".cpp", ".cu")
    }


def arrows_of(root, sources):
    """By pair of folders of which one includes the other: the first such include, as "file:line includes file"."""
    arrows = {}
    for file, place in sources.items():
        for number, line in enumerate((root / file).read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            if not include:
                continue
            beside, public = include.groups()
            candidates = ["include/" + public] if public else [file.parent / beside, "src/" + beside]
            target = next((path for path in map(pathlib.Path, candidates) if path in sources), None)
            if target is None:
                sys.exit(f"{file}:{number} includes {public or beside}, which is not in {' or '.join(ROOTS)}")
            pair = folder_of(place), folder_of(sources[target])
            if pair[0] != pair[1]:
                arrows.setdefault(pair, f"{file}:{number} includes {target}")
    return arrows


def reach_of(rows):
    """By folder all that it may include: what its row names and what may be included there."""
    reach = {}
    for folder, named in rows.items():
        reach[folder] = set(named).union(*(reach.get(below, set()) for below in named))
    return reach


def shortest_cycle(arrows):
    """The folders of a cycle, the first one again at the end; None if there is none."""
    following = {}
    for begin, end in arrows:
        following.setdefault(begin, []).append(end)
    shortest = None
    for start in following:
        ways, seen = [[start]], set()
        for way in ways:  # grows meanwhile: breadth first
            for folder in following.get(way[-1], []):
                if folder == start and (shortest is None or len(way) < len(shortest) - 1):
                    shortest = [*way, start]
                if folder not in seen:
                    seen.add(folder)
                    ways.append([*way, folder])
    return shortest


def complaints(root):
    rows = rows_of(root / TABLE)
    sources = sources_of(root)
    arrows = arrows_of(root, sources)
    folders = {folder_of(place) for place in sources.values()}
    for folder in sorted(folders - rows.keys()):
        yield f"folder {folder} is not in the table of {TABLE}; add a row with what it holds and may include"
    for folder in sorted(rows.keys() - folders):
        yield f"folder {folder} in the table of {TABLE} is not there; remove its row"
    order = list(rows)
    for folder, named in rows.items():
        for below in named:
            if below not in rows or order.index(below) >= order.index(folder):
                yield f"the row of {folder} in the table of {TABLE} names {below}, which is no row above it; move the row"
    if cycle := shortest_cycle(arrows):
        yield f"includes form a cycle of folders, {' -> '.join(cycle)}; turn one of them:" + "".join(
            f"\n  {arrows[pair]}" for pair in zip(cycle, cycle[1:]))
    reach = reach_of(rows)
    for (begin, end), example in sorted(arrows.items()):
        if begin in rows and end in rows and end not in reach[begin]:
            yield f"{begin} may not include {end}: {example}; move what it needs, or change the table of {TABLE}"


found = list(complaints(pathlib.Path(sys.argv[1])))
print("\n".join(found))
sys.exit(1 if found else 0)

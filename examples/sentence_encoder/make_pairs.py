#!/usr/bin/env python3
"""Pairs of texts from plays, as JSON Lines: some lines of a speech, and the lines that follow them in it.

usage: make_pairs.py <play.txt> <folder>

Speeches stand between empty lines, each behind a line with who speaks. A pair is {"query": ..., "positive": ...}: two
neighbouring pieces of one speech, without the speaker's name. Of every hundred speeches the last twenty are held out,
and each that has four lines gives <folder>/held_out.jsonl one pair, of pieces of two lines. The others, as
<folder>/train.jsonl, give every pair that they have: at each line, for pieces of one, two and three lines.
"""
import json
import os
import sys


HELD_OUT, OF = 20, 100


def speeches(text):
    """(number, lines) of each."""
    for number, block in enumerate(text.split("\n\n")):
        lines = block.strip().split("\n")
        if lines[0].endswith(":"):
            yield number, lines[1:]


def is_held_out(number):
    return number % OF >= OF - HELD_OUT


def pairs_of(lines, size):
    for first in range(len(lines) - 2 * size + 1):
        query, positive = lines[first:first + size], lines[first + size:first + 2 * size]
        yield {"query": " ".join(query), "positive": " ".join(positive)}


def write(path, pairs):
    with open(path, "w", encoding="utf-8") as file:
        for pair in pairs:
            file.write(json.dumps(pair) + "\n")


def main(play, folder):
    with open(play, encoding="utf-8") as file:
        text = file.read()
    train = [pair for number, lines in speeches(text) if not is_held_out(number)
             for size in (1, 2, 3) for pair in pairs_of(lines, size)]
    held_out = [next(pairs_of(lines, 2)) for number, lines in speeches(text) if is_held_out(number) and len(lines) >= 4]
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "train.jsonl"), train)
    write(os.path.join(folder, "held_out.jsonl"), held_out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])

"""The constants with which the model comes closest to a table of runs."""
import math
import random
import statistics

from model import BOUNDS

SMALL_ERROR = 0.05


def loss(model, rows, constants):
    """Mean of a pseudo-Huber function of the log ratio: squares where errors are small, so that all constants count, and
    no more than proportional where they are large, so that a row which is odd does not draw them to it."""
    return statistics.fmean(math.hypot(1, math.log1p(error) / SMALL_ERROR) - 1
                            for error in model.errors(rows, constants))


def search(model, rows, start):
    """A pattern search in the logarithms of the constants: each is moved up and down, by steps that shrink, and pairs
    of them against each other, as rates make up for each other."""
    best, lowest, step = dict(start), loss(model, rows, start), 0.3
    names = list(BOUNDS)
    moves = [{name: sign} for name in names for sign in (1, -1)]
    moves += [{a: sign, b: -sign} for a in names for b in names if a < b for sign in (1, -1)]
    while step > 0.008:
        improved = False
        for move in moves:
            tried = dict(best)
            for name, sign in move.items():
                least, most = BOUNDS[name]
                tried[name] = min(most, max(least, best[name] * (1 + step) ** sign))
            if (value := loss(model, rows, tried)) < lowest * (1 - 1e-6):
                best, lowest, improved = tried, value, True
        if not improved:
            step /= 2
    return best, lowest


def fit(model, rows, n_random_starts):
    """The best of searches from the middle of the bounds and from some points within them."""
    random_points = random.Random(0)
    starts = [{name: math.sqrt(max(least, most / 100) * most) for name, (least, most) in BOUNDS.items()}]
    starts += [{name: random_points.uniform(least, most) for name, (least, most) in BOUNDS.items()}
               for _ in range(n_random_starts)]
    return min((search(model, rows, start) for start in starts), key=lambda found: found[1])[0]


def fit_without(model, rows):
    """As fit; what none of the rows is about is taken from what is nearest."""
    constants = fit(model, rows, 0)
    if not any(row["gpu"] == "h100-marenostrum5" for row in rows):
        constants["products_on_hopper_64gb"] = constants["products_on_hopper"]
    if not any(row["network"] == "leonardo" for row in rows):
        constants["shared_hop_seconds"] = constants["hop_seconds"]
    if not any(row["program"] == "monomorph" for row in rows):
        constants["monomorph"] = constants["fused"]
    return constants

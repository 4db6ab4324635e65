"""The constants with which the model comes closest to a table of runs."""
import math

from model import BOUNDS

SMALL_ERROR = 0.05
STEP = 1e-3  # in a constant's logarithm, to find by how much errors change


def residuals(model, rows, constants):
    return [math.log1p(error) for error in model.errors(rows, constants)]


def middle(name):
    least, most = BOUNDS[name]
    return math.sqrt(least * most)


def half_range(name):
    least, most = BOUNDS[name]
    return math.log(most / least) / 2


def from_middle(name, constants):
    """From -1 to 1, in logarithms."""
    return math.log(constants[name] / middle(name)) / half_range(name)


def loss(found, constants):
    """Of the errors a pseudo-Huber function: squares where they are small, so that all constants count, and no more
    than proportional where they are large, so that a row which is odd does not draw them to it. Of the constants a
    little that keeps one about which rows say nothing in the middle of its bounds: at a bound it costs about what an
    error of 5 % does."""
    return (sum(math.hypot(1, r / SMALL_ERROR) - 1 for r in found)
            + sum(from_middle(name, constants)**2 for name in constants) / 2)


def within(name, value):
    least, most = BOUNDS[name]
    return min(most, max(least, value))


def moved(constants, steps):
    return constants | {name: within(name, constants[name] * math.exp(step)) for name, step in steps.items()}


def solve(matrix, right):
    """Gaussian elimination of a positive definite matrix."""
    rows = [row + [value] for row, value in zip(matrix, right)]
    for i, pivot in enumerate(rows):
        for other in rows[i + 1:]:
            factor = other[i] / pivot[i]
            other[i:] = [a - factor * b for a, b in zip(other[i:], pivot[i:])]
    found = [0.0] * len(rows)
    for i in reversed(range(len(rows))):
        found[i] = (rows[i][-1] - sum(rows[i][j] * found[j] for j in range(i + 1, len(rows)))) / rows[i][i]
    return found


def slopes(model, rows, constants, here):
    """Of each constant, by how much the residual of each row changes with its logarithm."""
    found = {}
    for name in BOUNDS:
        step = STEP if within(name, constants[name] * math.exp(STEP)) > constants[name] else -STEP
        there = residuals(model, rows, moved(constants, {name: step}))
        found[name] = [(b - a) / step for a, b in zip(here, there)]
    return found


def proposed_steps(columns, constants, here, damping):
    """Levenberg and Marquardt's, with weights that make squares of the loss (iteratively reweighted)."""
    weights = [1 / math.hypot(1, r / SMALL_ERROR) / SMALL_ERROR**2 for r in here]
    names = list(columns)
    matrix = [[sum(w * a * b for w, a, b in zip(weights, columns[m], columns[n])) for n in names] for m in names]
    right = [-sum(w * a * r for w, a, r in zip(weights, columns[m], here)) for m in names]
    for i, name in enumerate(names):
        right[i] -= from_middle(name, constants) / half_range(name)
        matrix[i][i] = (1 + damping) * (matrix[i][i] + half_range(name)**-2)
    return {name: max(-0.5, min(0.5, step)) for name, step in zip(names, solve(matrix, right))}


def leaves(name, constants, step):
    """Whether a constant at one of its bounds would go beyond it."""
    least, most = BOUNDS[name]
    return (constants[name] <= least and step < 0) or (constants[name] >= most and step > 0)


def free_steps(columns, constants, here, damping):
    """The others' steps are found again without the constants that stay at their bounds."""
    columns = dict(columns)
    while columns:
        steps = proposed_steps(columns, constants, here, damping)
        held = [name for name in steps if leaves(name, constants, steps[name])]
        if not held:
            return steps
        for name in held:
            del columns[name]
    return {}


def fit(model, rows):
    """From the middle of the bounds."""
    constants = {name: middle(name) for name in BOUNDS}
    here, damping = residuals(model, rows, constants), 1e-2
    for _ in range(60):
        columns, before = slopes(model, rows, constants, here), loss(here, constants)
        while damping < 1e6:
            tried = moved(constants, free_steps(columns, constants, here, damping))
            there = residuals(model, rows, tried)
            if loss(there, tried) < before:
                break
            damping *= 4
        else:
            return constants
        constants, here, damping = tried, there, max(damping / 8, 1e-6)
        if before - loss(here, constants) < 1e-5 * before:
            return constants
    return constants


def fit_without(model, rows):
    """As fit; what none of the rows is about is taken from what is nearest."""
    constants = fit(model, rows)
    if not any(row["gpu"] in ("h100-marenostrum5", "h100-500w") for row in rows):
        constants["products_on_hopper_hbm2e"] = constants["products_on_hopper"]
    if not any(row["gpu"] == "b200" for row in rows):
        constants["products_on_blackwell"] = constants["products_on_hopper"]
    if not any(row["network"] == "leonardo" for row in rows):
        constants["shared_hop_seconds"] = constants["hop_seconds"]
    if not any(row["program"] == "monomorph" for row in rows):
        constants["monomorph"] = constants["fused"]
    return constants

"""What bench/reports/scaling.md says."""
import statistics

from model import BOUNDS, error

ASKED = 0.10  # the median error on rows left out

HEAD = """# Steps on paper

Written by `bench/scaling/run`, commit {commit}. The model is `src/train/scaling/`, [described here](../../docs/reference/scaling.md); \
the rows are `bench/scaling/published.csv`, where every second one was held out of the calibration before anything was fitted. \
The form of the model, and what is assumed where a source is silent, were settled with all rows in sight: only the constants \
have never seen the rows held out. Errors are of the predicted time: above 0 where the run was faster than predicted.

| rows | number | median of the errors' sizes | largest |
|---|---|---|---|
{splits}

Asked: a median of at most {asked:.0%} on rows left out of the calibration: {verdict}. {within} of the {number} rows held out \
lie within it.
"""
SOURCES = """## A source left out at a time

Constants fitted to all rows of the other sources predict those of one of which they have seen nothing: this is what to \
expect of a cluster and a program that are not in the table. What no other source is about is taken from what is nearest: \
the products of MareNostrum 5's GPUs from those of other H100s, a hop of Leonardo's network from that of others, \
Monomorph's kernels from those of other programs that fuse them.

| source | rows | median of the errors' sizes | median error |
|---|---|---|---|
{sources}
"""
CONSTANTS = """## The constants

| constant | fitted | what it is | bounds |
|---|---|---|---|
{constants}

Constants make up for each other where rows don't tell them apart: a lower rate of products for fewer bytes of the other \
kernels. A rate is therefore no measurement of a kernel, and one that is at a bound would have gone on to what no hardware \
does.
"""
ROWS = """## Every row

*micro*: sequences of a micro-batch; *recompute*: blocks that are computed again. In italics what the source does not say and \
is assumed: micro-batches of 8,192 tokens, and the least recomputation with which the rank fits in the GPU by the plan.

| source | model | GPU | GPUs | micro | sharding | recompute | program | tokens/s of a GPU | predicted | error | exposed | GiB | split |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
{rows}
"""
MEANING = {
    "products_on_ampere": "of the peak, that large products reach on an A100",
    "products_on_hopper": "the same on an H100 or H200",
    "products_on_hopper_64gb": "the same on MareNostrum 5's H100 of 64 GB",
    "contention": "by how much kernels take longer while a collective is under way",
    "network": "of a link's bandwidth, that collectives reach",
    "hop_seconds": "seconds of a hop between nodes",
    "shared_hop_seconds": "seconds of a hop between Leonardo's nodes, whose network all its jobs share",
    "unfused": "bytes that kernels other than products move, over those that backward reads of activations: of programs "
               "that run operation by operation",
    "fused": "the same of programs whose operations are fused, by a compiler or by hand",
    "monomorph": "the same of Monomorph, by what was measured of it on one H200",
    "attention": "rate of FlashAttention-2 over that of products; cuDNN's kernels, and so Monomorph, have twice that",
}


def median_size(errors):
    return statistics.median(map(abs, errors))


def table_row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def head(rows, errors, commit):
    by_split = {split: [e for row, e in zip(rows, errors) if row["split"] == split]
                for split in ("calibration", "held out")}
    held_out = by_split["held out"]
    splits = [table_row(split, len(found), f"{median_size(found):.1%}", f"{max(found, key=abs):+.1%}")
              for split, found in by_split.items()]
    return HEAD.format(commit=commit, splits="\n".join(splits), asked=ASKED, number=len(held_out),
                       verdict="met" if median_size(held_out) <= ASKED else "**not met**",
                       within=sum(abs(e) <= ASKED for e in held_out))


def sources(left_out):
    everything = [e for found in left_out.values() for e in found]
    return SOURCES.format(sources="\n".join(
        table_row(source, len(found), f"{median_size(found):.1%}", f"{statistics.median(found):+.1%}")
        for source, found in (left_out | {"all of them": everything}).items()))


def constants_table(constants):
    return CONSTANTS.format(constants="\n".join(
        table_row(f"`{name}`", f"{constants[name]:.3g}", MEANING[name], f"{least:g} to {most:g}")
        for name, (least, most) in BOUNDS.items()))


def run_row(row, prediction):
    def given(field, value):
        return value if row[field] else f"*{value}*"
    p = prediction
    return table_row(row["source"], row["model"], row["gpu"], row["gpus"], given("micro_batch", p.micro_batch),
                     row["sharding"], given("recompute", p.recompute), row["program"],
                     f"{float(row['tokens_per_s_per_gpu']):,.0f}", f"{p.tokens_per_second:,.0f}", f"{error(row, p):+.1%}",
                     f"{p.exposed_seconds / p.seconds:.0%}", f"{p.gib:.0f}{'' if p.fits else ' (more than there is)'}",
                     row["split"])


def text(rows, predictions, constants, left_out, commit, notes):
    """@param left_out by source, its errors by constants fitted without it"""
    errors = [error(row, prediction) for row, prediction in zip(rows, predictions)]
    all_rows = ROWS.format(rows="\n".join(map(run_row, rows, predictions)))
    return "\n".join([head(rows, errors, commit), sources(left_out), constants_table(constants), all_rows, notes])

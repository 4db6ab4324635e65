"""What bench/reports/scaling.md says."""
import statistics

from model import BOUNDS, error

ASKED = 0.10  # the median error on rows left out

HEAD = """# Steps on paper

Written by `bench/scaling/run`, commit {commit}. The model is `src/train/scaling/`, [described here](../../docs/reference/scaling.md); \
the rows are `bench/scaling/published.csv`, of which half are held out of the calibration, and all of the sources \
*fp8* and *40GB*. \
The form of the model, and what is assumed where a source is silent, were settled with rows in sight: only the constants \
have never seen the rows held out. The rows of *40GB* alone were in nobody's sight: they were added as they are, after the \
model was done. Errors are of the predicted time: above 0 where the run was faster than predicted.

| rows | number | median of the errors' sizes | largest |
|---|---|---|---|
{splits}

Asked: a median of at most {asked:.0%} on rows left out of the calibration: {verdict}. {within} of the {number} rows held out \
lie within it.
"""
SOURCES = """## A source left out at a time

Constants fitted to all rows of the other sources predict those of one of which they have seen nothing: this is what to \
expect of a cluster and a program that are not in the table. Rows of *fp8* and *40GB* are in no fit, and their authors' \
other rows not in theirs. What no other source is about is taken from what is nearest: \
a hop of Leonardo's network from that of others, Monomorph's kernels from those of other programs that fuse them. What \
hardly any row depends on is a guess: without MareNostrum 5 the hop between nodes follows from runs on at most 64 nodes, which \
seldom wait for it, and is put at its upper bound, so that the run of 2.7B parameters on 512 GPUs that share all of them is \
predicted to take twice its time.

| source | rows | median of the errors' sizes | median error | largest | within 10% |
|---|---|---|---|---|---|
{sources}
"""
CONSTANTS = """## The constants

| constant | fitted | what it is | bounds |
|---|---|---|---|
{constants}

A constant on which rows have no say would stay in the middle of its bounds; at a bound it costs the fit about as much as a \
row that is missed by 5 %. Constants make up for each other where rows don't tell them apart: a lower rate of products for fewer bytes of the other \
kernels. A rate is therefore no measurement of a kernel.
"""
ROWS = """## Every row

*micro*: sequences of a micro-batch, and micro-batches of a step where there are several; *left out*: the error by constants \
that were fitted without any row of the source; *recompute*: blocks that are computed again. In italics what the source does not say and \
is assumed: micro-batches of 8,192 tokens, and the least recomputation with which the rank fits in the GPU by the plan.

| source | model | GPU | GPUs | micro | sharding | recompute | program | tokens/s of a GPU | predicted | error | left out | exposed | GiB | split |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
{rows}
"""
MEANING = {
    "products_on_ampere": "of the peak, that large products reach on an A100",
    "products_on_hopper": "the same on an H100 or H200",
    "products_on_hopper_hbm2e": "the same on H100s with HBM2e, which have less power: MareNostrum 5's and torchtitan's",
    "products_on_blackwell": "the same on a B200, of products in fp8",
    "attention_forward_on_ampere": "rate of FlashAttention-2 over that of products, forward on an A100",
    "attention_backward_on_ampere": "the same backward, which is counted as twice the products of forward",
    "attention_forward_on_hopper": "rate of FlashAttention-2 over that of products, forward on an H100 or H200; cuDNN's "
                                   "kernels, and so Monomorph, have twice that there, and on a B200",
    "attention_backward_on_hopper": "the same backward",
    "waiting": "by how much kernels take longer with each doubling of the nodes, as ranks wait for the slowest",
    "copies": "how often the bytes of a collective are read or written in the memory of a GPU: buffers, casts, sums",
    "network": "of a link's bandwidth, that collectives reach",
    "hop_seconds": "seconds of a hop between nodes",
    "shared_hop_seconds": "seconds of a hop between Leonardo's nodes, whose network all its jobs share",
    "unfused": "bytes that kernels other than products move, over those that backward reads of activations: of programs "
               "that run operation by operation",
    "fused": "the same of programs whose operations are fused, by a compiler or by hand",
    "monomorph": "the same of Monomorph, by what was measured of it on one H200",
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
        table_row(source, len(found), f"{median_size(found):.1%}", f"{statistics.median(found):+.1%}",
                  f"{max(found, key=abs):+.1%}", sum(abs(e) <= ASKED for e in found))
        for source, found in (left_out | {"all of them": everything}).items()))


def constants_table(constants):
    return CONSTANTS.format(constants="\n".join(
        table_row(f"`{name}`", f"{constants[name]:.3g}", MEANING[name], f"{least:g} to {most:g}")
        for name, (least, most) in BOUNDS.items()))


def micro_batches(row):
    return f" x {row['micro_batches']}" if row["micro_batches"] != "1" else ""


def run_row(row, prediction, left_out):
    def given(field, value):
        return str(value) if row[field] else f"*{value}*"
    p = prediction
    return table_row(row["source"], row["model"], row["gpu"], row["gpus"], given("micro_batch", p.micro_batch) + micro_batches(row),
                     row["sharding"], given("recompute", p.recompute), row["program"],
                     f"{float(row['tokens_per_s_per_gpu']):,.0f}", f"{p.tokens_per_second:,.0f}", f"{error(row, p):+.1%}", f"{left_out:+.1%}",
                     f"{p.exposed_seconds / p.seconds:.0%}", f"{p.gib:.0f}{'' if p.fits else ' (more than there is)'}",
                     row["split"])


def text(rows, predictions, constants, left_out, commit, notes):
    """@param left_out by source, its errors by constants fitted without it"""
    errors = [error(row, prediction) for row, prediction in zip(rows, predictions)]
    all_left_out = [e for found in left_out.values() for e in found]  # rows of a source lie together
    all_rows = ROWS.format(rows="\n".join(map(run_row, rows, predictions, all_left_out)))
    return "\n".join([head(rows, errors, commit), sources(left_out), constants_table(constants), all_rows, notes])

"""Prints what TensorBoard itself reads from a folder of event files, as JSON: {tag: [[step, value], ...]}."""
import json
import logging
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
logging.disable(logging.WARNING)  # that it drops the steps that a resumed run repeats
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util

accumulator = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0})
accumulator.Reload()
tags = accumulator.Tags()
scalars = {tag: [[event.step, str(event.value)] for event in accumulator.Scalars(tag)] for tag in tags["scalars"]}
for tag in tags["tensors"]:  # newer versions turn scalars into tensors while reading
    scalars[tag] = [
        [event.step, str(float(tensor_util.make_ndarray(event.tensor_proto)))] for event in accumulator.Tensors(tag)
    ]
print(json.dumps(scalars))

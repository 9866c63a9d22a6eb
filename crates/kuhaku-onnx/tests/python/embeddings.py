"""What Python's own packages give for texts, and how long they take: the peer of tests/models_*.rs.

    python embeddings.py MODEL_FOLDER MODEL_FILE THREADS

Reads one JSON object per line and answers with one. Needs onnxruntime, tokenizers and numpy.

    {"do": "embed", "texts": […]}   ids and vectors, each text alone
    {"do": "time", "texts": […], "batch": 32}   seconds for the texts in the order they come, in
                                    batches padded to their longest: tokens, session, mean, length 1
    {"do": "memory"}                resident bytes now and at most, since before the model was opened
"""

import json
import pathlib
import sys
import time

import numpy
import onnxruntime
import tokenizers

folder, file, threads = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])


def memory():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines)
    return {name: int(found[name].split()[0]) * 1024 for name in ["VmRSS", "VmHWM"]}


before = memory()["VmRSS"]
tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.no_truncation()
tokenizer.no_padding()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = threads
session = onnxruntime.InferenceSession(
    str(folder / file), options, providers=["CPUExecutionProvider"]
)
inputs = {each.name for each in session.get_inputs()}
padding = json.loads((folder / "config.json").read_text()).get("pad_token_id", 0)


def vectors(encodings):
    width = max(len(each) for each in encodings)
    ids = numpy.full((len(encodings), width), padding, "int64")
    mask = numpy.zeros((len(encodings), width), "int64")
    for row, each in enumerate(encodings):
        ids[row, : len(each)] = each
        mask[row, : len(each)] = 1
    feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
    states = session.run(None, {name: feeds[name] for name in inputs})[0]
    weights = mask[:, :, None].astype("float32")
    mean = (states * weights).sum(axis=1) / weights.sum(axis=1)
    return mean / numpy.linalg.norm(mean, axis=1, keepdims=True)


def embed(texts):
    encodings = [each.ids for each in tokenizer.encode_batch(texts)]
    found = [vectors([each])[0].tolist() for each in encodings]
    return {"ids": encodings, "vectors": found}


def timed(texts, batch):
    start = time.perf_counter()
    for at in range(0, len(texts), batch):
        vectors([each.ids for each in tokenizer.encode_batch(texts[at : at + batch])])
    return {"seconds": time.perf_counter() - start}


for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "embed":
        answer = embed(asked["texts"])
    elif asked["do"] == "time":
        answer = timed(asked["texts"], asked["batch"])
    else:
        answer = {name: value - before for name, value in memory().items()}
    print(json.dumps(answer), flush=True)

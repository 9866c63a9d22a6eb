"""Prints what a model of fixtures/onnx answers, as the text of its reference.json.

    python reference.py FOLDER

Needs onnxruntime, tokenizers and numpy. Each input is run alone, without padding; then all of them
in one padded batch, which must agree (but for int8, whose scales span the batch).
"""

import hashlib
import json
import pathlib
import sys

import numpy
import onnxruntime
import tokenizers

folder = pathlib.Path(sys.argv[1])
texts = json.loads(pathlib.Path(__file__).with_name("texts.json").read_text(encoding="utf-8"))
config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.no_truncation()
tokenizer.no_padding()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(
    str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
)
inputs = [each.name for each in session.get_inputs()]
padding = config["pad_token_id"]
longest = config["max_position_embeddings"] - (padding + 1 if config["model_type"] != "bert" else 0)
labels = len(config.get("id2label", {}))


def run(encodings):
    width = max(len(each.ids) for each in encodings)

    def rows(values, filler):
        return numpy.array([[*each, *[filler] * (width - len(each))] for each in values], "int64")

    feeds = {
        "input_ids": rows([each.ids for each in encodings], padding),
        "attention_mask": rows([each.attention_mask for each in encodings], 0),
        "token_type_ids": rows([each.type_ids for each in encodings], 0),
    }
    (output,) = session.run(None, {name: feeds[name] for name in inputs})
    return feeds["attention_mask"], output


def unit(vector):
    vector = vector.astype("float64")
    return vector / numpy.linalg.norm(vector)


def answers(encodings):
    mask, output = run(encodings)
    if labels:
        return [{"logits": row} for row in output]
    found = []
    for row, kept in zip(output, mask):
        states = row[kept == 1]
        found.append({"mean": unit(states.mean(axis=0)), "cls": unit(states[0])})
    return found


if labels == 1:
    named = [{"query": query, "passage": passage} for query, passage in texts["pairs"]]
    encodings = [tokenizer.encode(each["query"], each["passage"]) for each in named]
else:
    named = [{"text": text} for text in [*texts["texts"], *texts["long"]]]
    encodings = [tokenizer.encode(each["text"]) for each in named]

short = [at for at, each in enumerate(encodings) if len(each.ids) <= longest]
alone = {at: answers([encodings[at]])[0] for at in short}
if not any(node in (folder / "model.onnx").read_bytes() for node in [b"DynamicQuantizeLinear"]):
    together = answers([encodings[at] for at in short])
    for at, batched in zip(short, together):
        for name, value in alone[at].items():
            difference = numpy.abs(value - batched[name]).max()
            assert difference < 1e-5, f"input {at} differs by {difference} in a batch"

cases = []
for at, (name, encoding) in enumerate(zip(named, encodings)):
    case = {**name, "ids": encoding.ids}
    if labels == 1:
        case["type_ids"] = encoding.type_ids
    for key, value in alone.get(at, {}).items():
        # Six places: the last bits differ between processors.
        case[key] = [round(float(each), 6) + 0.0 for each in value]
    cases.append(case)


def digest(name):
    return hashlib.sha256((folder / name).read_bytes()).hexdigest()


print(
    json.dumps(
        {
            "made_by": "xtask/onnx/reference.py",
            "packages": {
                each.__name__: each.__version__ for each in [onnxruntime, tokenizers, numpy]
            },
            "sha256": {
                name: digest(name) for name in ["model.onnx", "tokenizer.json", "config.json"]
            },
            "longest": longest,
        },
        indent=1,
    )[:-2]
    + ',\n "cases": [\n  '
    + ",\n  ".join(json.dumps(case, ensure_ascii=False) for case in cases)
    + "\n ]\n}"
)

"""Searches a set by words, by vectors and by both in Python, one query at a time, on one thread.

Usage: hybrid_peer.py FOLDER VECTORS DOCUMENTS QUESTIONS SPLIT DEPTH COUNT. FOLDER is the set, VECTORS the
folder of DOCUMENTS.f16 and QUESTIONS.f16. The steps: bm25s finds DEPTH documents, numpy multiplies all
vectors by the query's and picks DEPTH, both lists are scaled to 0..1 and added, the best COUNT are sorted.
Prints one JSON value: words_us, vectors_us, hybrid_us (the best of three per query), rankings.
"""

import gzip
import json
import os
import sys
import time

import bm25s
import numpy as np
import Stemmer


def lines(path):
    if os.path.exists(path):
        return open(path, encoding="utf-8")
    return gzip.open(path + ".gz", "rt", encoding="utf-8")


def vectors(folder, name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        manifest = json.load(file)
    rows = np.fromfile(os.path.join(folder, name + ".f16"), dtype="<f2").astype(np.float32)
    return manifest["ids"], rows.reshape(manifest["count"], manifest["dim"])


def main():
    folder, where, documents, questions, split = sys.argv[1:6]
    depth, count = int(sys.argv[6]), int(sys.argv[7])
    stemmer = Stemmer.Stemmer("english")
    texts = {}
    for line in lines(os.path.join(folder, "corpus.jsonl")):
        document = json.loads(line)
        texts[document["_id"]] = (document.get("title") or "") + " " + document["text"]
    ids, rows = vectors(where, documents)
    asked, query_rows = vectors(where, questions)
    by_id = {
        query["_id"]: query["text"]
        for query in map(json.loads, lines(os.path.join(folder, "queries.jsonl")))
    }

    def tokens(some):
        return bm25s.tokenize(some, stopwords="en", stemmer=stemmer, show_progress=False)

    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(tokens([texts[name] for name in ids]), show_progress=False)
    depth = min(depth, len(ids))

    def words(text):
        found, scores = index.retrieve(tokens(text), k=depth, show_progress=False, n_threads=1)
        return found[0], scores[0]

    def nearest(row):
        cosines = rows @ row
        some = np.argpartition(-cosines, depth - 1)[:depth]
        return some, cosines[some]

    def scaled(scores):
        least, most = scores.min(), scores.max()
        return (scores - least) / (most - least) if most > least else np.ones_like(scores)

    def hybrid(text, row):
        fused = {}
        for (found, scores), weight in ((words(text), 0.4), (nearest(row), 0.6)):
            for place, score in zip(found.tolist(), (weight * scaled(scores)).tolist()):
                fused[place] = fused.get(place, 0.0) + score
        best = sorted(fused, key=fused.get, reverse=True)[:count]
        return [ids[place] for place in best]

    def timed(step):
        best = float("inf")
        for _ in range(3):
            begun = time.perf_counter()
            step()
            best = min(best, time.perf_counter() - begun)
        return best * 1e6

    pairs = [(name, by_id[name], row) for name, row in zip(asked, query_rows)]
    rankings = {name: hybrid(text, row) for name, text, row in pairs}
    json.dump(
        {
            "words_us": [timed(lambda: words(text)) for _, text, _ in pairs],
            "vectors_us": [timed(lambda: nearest(row)) for _, _, row in pairs],
            "hybrid_us": [timed(lambda: hybrid(text, row)) for _, text, row in pairs],
            "rankings": rankings,
        },
        sys.stdout,
    )


main()

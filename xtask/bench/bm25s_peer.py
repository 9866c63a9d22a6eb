"""Indexes and searches one set with the bm25s package, one query at a time, on one thread.

Usage: bm25s_peer.py FOLDER SPLIT LANGUAGE DEPTH SHALLOW. Prints one JSON value: index_ms; query_ms and
shallow_ms (lists, the best of three runs per query at each depth); rankings at DEPTH (query id to document
ids, best first).
"""

import gzip
import json
import os
import sys
import time

import bm25s
import Stemmer


def lines(path):
    if os.path.exists(path):
        return open(path, encoding="utf-8")
    return gzip.open(path + ".gz", "rt", encoding="utf-8")


def main():
    folder, split, language = sys.argv[1], sys.argv[2], sys.argv[3]
    depth, shallow = int(sys.argv[4]), int(sys.argv[5])
    stemmer = Stemmer.Stemmer({"en": "english", "tr": "turkish"}[language])
    stop_words = "en" if language == "en" else []
    ids, texts = [], []
    for line in lines(os.path.join(folder, "corpus.jsonl")):
        document = json.loads(line)
        ids.append(document["_id"])
        texts.append((document.get("title") or "") + " " + document["text"])
    judged = set()
    with lines(os.path.join(folder, "qrels", split + ".tsv")) as qrels:
        next(qrels)
        for line in qrels:
            judged.add(line.split("\t")[0])
    queries = [json.loads(line) for line in lines(os.path.join(folder, "queries.jsonl"))]
    queries = [query for query in queries if query["_id"] in judged]

    begun = time.perf_counter()
    tokens = bm25s.tokenize(texts, stopwords=stop_words, stemmer=stemmer, show_progress=False)
    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(tokens, show_progress=False)
    index_ms = (time.perf_counter() - begun) * 1e3

    def search(text, count):
        words = bm25s.tokenize(text, stopwords=stop_words, stemmer=stemmer, show_progress=False)
        return index.retrieve(words, k=min(count, len(ids)), show_progress=False, n_threads=1)

    def timed(text, count):
        best = None
        for _ in range(3):
            begun = time.perf_counter()
            search(text, count)
            took = (time.perf_counter() - begun) * 1e3
            best = took if best is None else min(best, took)
        return best

    query_ms = [timed(query["text"], depth) for query in queries]
    shallow_ms = [timed(query["text"], shallow) for query in queries]
    rankings = {}
    for query in queries:
        found, scores = search(query["text"], depth)
        pairs = zip(found[0].tolist(), scores[0].tolist())
        rankings[query["_id"]] = [ids[place] for place, score in pairs if score > 0]
    json.dump(
        {
            "index_ms": index_ms,
            "query_ms": query_ms,
            "shallow_ms": shallow_ms,
            "rankings": rankings,
        },
        sys.stdout,
    )


main()

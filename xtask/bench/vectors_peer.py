"""Searches the rows of FOLDER/base.f32 for those of FOLDER/queries.f32 with one package, on one thread.

Usage: vectors_peer.py FOLDER numpy|hnswlib|usearch. FOLDER/shape.json says how many rows of how many
numbers, FOLDER/truth.i32 which ten rows each query should find. A graph is searched with the smallest
breadth of a list that finds 98 in 100 of them. Prints one JSON value: build_ms, query_us (the best of three
per query), memory_mb (private memory that the index added), hits (row numbers), setting.
"""

import json
import sys
import time

import numpy as np

BREADTHS = [32, 64, 100, 150, 200, 300, 400, 600, 800]
COUNT = 10


def private_mb():
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024 / 1e6
    return float("nan")


def with_numpy(base):
    rows = np.array(base)

    def search(query):
        scores = rows @ query
        some = np.argpartition(-scores, COUNT)[:COUNT]
        return some[np.argsort(-scores[some], kind="stable")]

    return search, None


def with_hnswlib(base):
    import hnswlib

    index = hnswlib.Index(space="ip", dim=base.shape[1])
    index.init_index(max_elements=base.shape[0], M=16, ef_construction=200)
    index.set_num_threads(1)
    index.add_items(base, num_threads=1)
    return lambda query: index.knn_query(query, k=COUNT, num_threads=1)[0][0], index.set_ef


def with_usearch(base):
    from usearch.index import Index

    index = Index(
        ndim=base.shape[1], metric="ip", dtype="f32", connectivity=16, expansion_add=200
    )
    index.add(np.arange(base.shape[0]), base, threads=1)

    def breadth(value):
        index.expansion_search = value

    return lambda query: index.search(query, COUNT, threads=1).keys, breadth


def main():
    folder, engine = sys.argv[1], sys.argv[2]
    with open(f"{folder}/shape.json", encoding="utf-8") as file:
        shape = json.load(file)
    size = (shape["rows"], shape["dimension"])
    base = np.memmap(f"{folder}/base.f32", dtype="<f4", mode="r", shape=size)
    queries = np.fromfile(f"{folder}/queries.f32", dtype="<f4").reshape(-1, shape["dimension"])
    truth = np.fromfile(f"{folder}/truth.i32", dtype="<i4").reshape(len(queries), -1)
    before = private_mb()
    begun = time.perf_counter()
    make = {"numpy": with_numpy, "hnswlib": with_hnswlib, "usearch": with_usearch}[engine]
    search, breadth = make(base)
    build_ms = (time.perf_counter() - begun) * 1e3
    memory_mb = private_mb() - before

    def found():
        return [[int(row) for row in search(query)] for query in queries]

    def recall(hits):
        pairs = zip(hits, truth)
        return np.mean([len(set(hit) & set(best.tolist())) / len(best) for hit, best in pairs])

    setting = "exact"
    hits = None
    for value in BREADTHS if breadth else []:
        breadth(value)
        setting = f"breadth {value}"
        hits = found()
        if recall(hits) >= 0.98:
            break
    hits = hits or found()

    def timed(query):
        best = float("inf")
        for _ in range(3):
            begun = time.perf_counter()
            search(query)
            best = min(best, time.perf_counter() - begun)
        return best * 1e6

    json.dump(
        {
            "build_ms": build_ms,
            "query_us": [timed(query) for query in queries],
            "memory_mb": memory_mb,
            "hits": hits,
            "setting": setting,
        },
        sys.stdout,
    )


main()

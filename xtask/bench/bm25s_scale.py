"""Indexes the lines of FOLDER/corpus.txt with the bm25s package and searches for the lines of
FOLDER/common.txt and FOLDER/rare.txt, one query at a time on one thread, the best of three. Prints one
JSON value: index_ms, common_us, rare_us.
"""

import json
import statistics
import sys
import time

import bm25s
import Stemmer


def main():
    folder = sys.argv[1]
    stemmer = Stemmer.Stemmer("english")

    def lines(name):
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            return file.read().splitlines()

    def tokens(texts):
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    corpus = lines("corpus.txt")
    begun = time.perf_counter()
    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(tokens(corpus), show_progress=False)
    index_ms = (time.perf_counter() - begun) * 1e3

    def timed(query):
        best = float("inf")
        for _ in range(3):
            begun = time.perf_counter()
            index.retrieve(tokens(query), k=10, show_progress=False, n_threads=1)
            best = min(best, time.perf_counter() - begun)
        return best * 1e6

    def median(name):
        return statistics.median(timed(query) for query in lines(name))

    json.dump(
        {"index_ms": index_ms, "common_us": median("common.txt"), "rare_us": median("rare.txt")},
        sys.stdout,
    )


main()

"""Puzzles on a Spark cluster, or on the cores of this machine, with a Python data source:

    pip install . pyspark                       # Spark 4, and Java 17 or later
    python with_spark.py OUT puzzles.yaml               # this machine
    spark-submit --master yarn with_spark.py /shared/OUT puzzles.yaml

A partition is a file of OUT, a folder that all nodes see, and reading it makes it. Its one row is
what the manifest says of the file. (To read the puzzles: `spark.read.parquet(OUT)`.) Spark runs a
lost partition again. Killed, the same line goes on: files that are whole are skipped.
"""

import json
import os
import sys
from dataclasses import asdict

import pyarrow as pa
from command import read_command

from cogniload_gen.shards import puzzle_files

try:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
except ImportError as error:
    sys.exit(f"with_spark.py: error: Spark is needed, pip install pyspark: {error}")


class PuzzleSource(DataSource):
    """The data source "cogniload": a row for each file of a folder."""

    @classmethod
    def name(cls):
        return "cogniload"

    def schema(self):
        return "name string, rows bigint, bytes bigint, sha256 string"

    def reader(self, schema):
        return PuzzleReader(self.options["path"], json.loads(self.options["puzzles"]))


class PuzzleReader(DataSourceReader):
    """Makes the files."""

    def __init__(self, out, puzzles):
        self.out, self.puzzles = out, puzzles

    def partitions(self):
        return [*map(InputPartition, range(len(puzzle_files(self.out, **self.puzzles))))]

    def read(self, partition):
        made = puzzle_files(self.out, **self.puzzles).make(partition.value)
        yield pa.RecordBatch.from_pylist([asdict(made)])


if __name__ == "__main__":
    arguments = read_command(__doc__)
    out, files, puzzles = arguments.out, arguments.files, arguments.puzzles
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else "python3", which may be another
    spark = SparkSession.builder.appName("cogniload").getOrCreate()
    spark.dataSource.register(PuzzleSource)
    source = spark.read.format("cogniload").option("puzzles", json.dumps(puzzles))
    rows = source.load(str(out)).groupBy().sum("rows").first()[0]
    print(f"{files.finish()} of {len(files)} files with {rows} puzzles are in {out}")
    spark.stop()

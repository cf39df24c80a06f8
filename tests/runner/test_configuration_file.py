"""The file of --config."""

import pytest
import yaml
from eval_command import PUZZLES, command, done_blocks, error_of, read, same_samples


def test_a_configuration_file(server, tmp_path, undisturbed):
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    config = tmp_path / "config.yaml"
    settings = {
        "model": "local-chat-completions",
        "model_args": {"model": "solver", "base_url": url},
        "apply_chat_template": True,
        "tasks": ["cogniload_mini"],
        "metadata": {"cogniload": PUZZLES},
        "block_size": 7,
        "output_path": str(tmp_path / "out"),
    }
    config.write_text(yaml.safe_dump(settings))
    assert command("eval", "--config", config, "--block_size", "6")[0] == 0
    assert len(done_blocks(tmp_path / "out")) == 4  # the command line goes first
    assert same_samples(read(tmp_path / "out"), undisturbed)
    also = ["--tasks", "cogniload_mini", "--log_samples"]
    assert command("eval", "-C", config, "--block_size", "6", *also)[0] == 0  # as it was begun
    config.write_text(yaml.safe_dump({"modell": "x"} | settings, sort_keys=False))
    message = error_of("eval", "--config", config)
    assert message.endswith("; its key 1 is none of these: did you mean model?")
    for wrong in (0, 3, [1, 2]):
        config.write_text(yaml.safe_dump(settings | {"shard": wrong}))
        assert error_of("eval", "--config", config).endswith(f"I <= N, got {wrong}")
    config.write_text("- a list")
    assert "must be a mapping" in error_of("eval", "--config", config)


@pytest.mark.parametrize(("name", "value", "types"), [
    ("tasks", 3, "str or list"),
    ("model", None, "str"),
    ("model_args", ["model=solver"], "dict"),
    ("gen_kwargs", "temperature=1", "dict"),
    ("metadata", 7, "dict"),
    ("limit", "6", "float or int or null"),
    ("samples", [1], "str or dict or null"),
    ("num_fewshot", "no", "int or null"),
    ("batch_size", [1], "int or str"),
    ("system_instruction", ["Think."], "str or null"),
    ("output_path", 3, "str"),
])  # fmt: skip
def test_a_value_of_a_wrong_type_is_named(tmp_path, name, value, types):
    config = tmp_path / "config.yaml"
    settings = {"model": "dummy", "tasks": "cogniload_mini", "output_path": str(tmp_path)}
    config.write_text(yaml.safe_dump(settings | {name: value}))
    message = f"{name} of {config} must be {types}, got {value!r}"
    assert error_of("eval", "--config", config) == message


def test_a_file_without_end_is_refused(tmp_path):
    config = tmp_path / "config.yaml"
    with config.open("wb") as file:
        file.truncate(3 * 2**30)
    assert error_of("eval", "--config", config) == f"{config} must have at most 262144 bytes"
    config.unlink()
    config.symlink_to(config.name)
    assert "config.yaml: Too many levels of symbolic links" in error_of("eval", "--config", config)
    config.unlink()
    config.symlink_to("/dev/zero")
    assert error_of("eval", "--config", config) == f"{config} must be a file, got a device"


def test_aliases_that_multiply_are_refused(tmp_path):
    lines = [f"  a{i + 1}: &a{i + 1} [{f'*a{i}, ' * 9}]" for i in range(12)]
    (tmp_path / "c").write_text("\n".join(["gen_kwargs:", "  a0: &a0 [x]", *lines]))
    assert "must have at most 10 aliases" in error_of("eval", "--config", tmp_path / "c")


@pytest.mark.parametrize(
    ("missing", "value"),
    [("tasks", None), ("output_path", None), *(("tasks", tasks) for tasks in ("", ",", [], [""]))],
)
def test_a_missing_argument_is_named(tmp_path, missing, value):
    config = tmp_path / "config.yaml"
    settings = {"model": "dummy", "tasks": "cogniload_mini", "output_path": str(tmp_path / "out")}
    del settings[missing]
    config.write_text(yaml.safe_dump(settings if value is None else settings | {missing: value}))
    assert error_of("eval", "--config", config).startswith(f"--{missing} is missing")


BROKEN = ("model: dummy\n{}: [", "{}: a: b", "tasks: [{}", "{}", "a: *{}")


@pytest.mark.parametrize("text", ["{}: 1", "tasks: {{{}: 1}}", *BROKEN])
def test_a_secret_in_the_place_of_a_name_is_not_repeated(tmp_path, text):
    config = tmp_path / "config.yaml"
    config.write_text(text.format("Zq9-b1g-S3cr3t"))
    assert "S3cr3t" not in error_of("eval", "--config", config, "--output_path", tmp_path / "out")

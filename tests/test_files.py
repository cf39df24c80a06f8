"""Files: what is written is whole, holds no key, and what is read may come from other tools."""

import json

import pytest

from cogniload_gen.files import without_keys

KEY = "s3cr3t-0f-31337"


NAMES = """
api_key apiKey API-KEY OPENAI_API_KEY key token hf_token use_auth_token X-Auth-Token header headers
extra_headers Authorization password db_password client_secret cookie
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_a_key_is_never_written(name):
    values = {
        name: KEY,
        "model_args": {name: KEY, "model": "m", "nested": [{name: {"x": KEY}, "y": 1}]},
        "text": f"model=m,{name}={KEY},seed=1",
        "json": json.dumps({"model": "m", name: f"Bearer {KEY}", "seed": 1}),
        "url": f"https://user:{KEY}@host:8000/v1?{name}={KEY}&x=1#part",
        "python": f"headers={{'Authorization': 'Bearer {KEY}'}},seed=1",
    }
    written = json.dumps(without_keys(values))
    assert KEY not in written
    assert "user" not in written
    assert without_keys(values)["url"] == f"https://host:8000/v1?{name}=***&x=1#part"
    assert without_keys(values)["text"] == f"model=m,{name}=***,seed=1"
    assert without_keys(values)["model_args"] == {"model": "m", "nested": [{"y": 1}]}
    assert KEY in json.dumps(values)  # the caller's own is as before


def test_what_is_no_key_stays():
    values = {
        "eos_token": "</s>",
        "think_end_token": "</think>",
        "add_bos_token": True,
        "max_gen_toks": 5,
        "base_url": "http://127.0.0.1:8000/v1/completions",
        "system_instruction": "The key: mind a token = 3 @ home, e.g. https://a.b/c@d?q=monkey=1",
        "stop": ["Authorization", None, 1.5],
    }
    assert without_keys(values) == values

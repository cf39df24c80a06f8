"""Serves the small real model as chat completions on loopback; the first line says the port."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

import torch
from real_model import wheel_folder
from transformers import AutoModelForCausalLM, AutoTokenizer

from lm_eval_tasks.demo import MODEL, MODEL_FILE


class Handler(BaseHTTPRequestHandler):
    """Answers one request after the other, greedily, within the tokens that it asks for."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tokenizer, model = self.server.loaded
        prompt = tokenizer.apply_chat_template(
            request["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        limit = request["max_tokens"]
        with torch.inference_mode():
            (output,) = model.generate(**prompt, max_new_tokens=limit, do_sample=False)
        tokens = output[prompt["input_ids"].shape[1] :]
        text = tokenizer.decode(tokens, skip_special_tokens=True)
        ended = tokens[-1].item() == tokenizer.eos_token_id
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": prompt["input_ids"].shape[1], "completion_tokens": len(tokens)}
        answer = {
            "id": "completion",
            "object": "chat.completion",
            "created": 0,
            "model": MODEL,
            "choices": [choice | {"finish_reason": "stop" if ended else "length"}],
            "usage": usage | {"total_tokens": sum(usage.values())},
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    given = {"pretrained_model_name_or_path": wheel_folder(), "gguf_file": MODEL_FILE}
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.loaded = (
            AutoTokenizer.from_pretrained(**given),
            AutoModelForCausalLM.from_pretrained(**given, dtype=torch.float32),
        )
        print(server.server_address[1], flush=True)
        server.serve_forever()

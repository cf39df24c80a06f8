"""Reinforce a model by GRPO on puzzles of the train split, paid for its answers and its steps."""

import argparse
from pathlib import Path

import yaml
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from cogniload_dataset import load_dataset
from cogniload_gen.rewards import answer_reward, step_reward


def main() -> None:
    """Train a model, and save it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="folder or name of the model")
    parser.add_argument("out", type=Path, help="folder of the checkpoints and of the model")
    parser.add_argument("--d", type=int, nargs="+", default=[1])
    parser.add_argument("--N", type=int, nargs="+", default=[8, 12, 16, 20, 24, 28, 32])
    parser.add_argument("--steps", type=int, default=200, help="updates (200)")
    parser.add_argument("--rate", type=float, default=2e-4, help="learning rate (2e-4)")
    parser.add_argument("--batch", type=int, default=64, help="responses of an update (64)")
    parser.add_argument("--tokens", type=int, default=200, help="most tokens of a response")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    each = -(-options.steps * options.batch // (8 * 3 * len(options.d) * len(options.N)))
    knobs = {"d": options.d, "N": options.N, "rho": [25, 50, 75], "num_puzzles": each}
    puzzles = load_dataset("cogniload", split="train", seed=options.seed, **knobs)
    puzzles = puzzles.map(lambda row: {"prompt": [{"role": "user", "content": row["puzzle"]}]})
    fixed = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text("utf-8"))
    settings = GRPOConfig(
        output_dir=str(options.out),
        max_steps=options.steps,
        learning_rate=options.rate,
        per_device_train_batch_size=options.batch,
        max_completion_length=options.tokens,
        seed=options.seed,
        **fixed["reinforcement"],
    )
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(options.model, dtype="float32"),
        processing_class=AutoTokenizer.from_pretrained(options.model),
        reward_funcs=[answer_reward, step_reward],
        train_dataset=puzzles,
        args=settings,
    )
    trainer.train(resume_from_checkpoint=any(options.out.glob("checkpoint-*")))
    trainer.save_model(str(options.out / "final"))


if __name__ == "__main__":
    main()

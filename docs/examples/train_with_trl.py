"""Trains a tiny model, which knows nothing, with TRL's GRPO to cross a board of GridWorld by calling tools.

    mesocosm serve --port 8321        # says where its admin token lies
    pip install trl torch httpx2 && pip install --no-deps mesocosm
    MESOCOSM_URL=http://127.0.0.1:8321 MESOCOSM_ADMIN_TOKEN=... python docs/examples/train_with_trl.py

The model reads the board as words that it does not know, and has a token for each call: what there is to
learn is what to call in which order. A model that can read takes its place by its name.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
import trl
from datasets import Dataset
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from mesocosm.training.trl import environment

CALLS = ("up", "down", "left", "right", "done")


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Knows digits and the five calls; every other word is the same to it."""
    known = ["[UNK]", "<pad>", *"0123456789"]
    words = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(known)}, unk_token="[UNK]")
    )
    words.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="[UNK]", pad_token="<pad>", eos_token="<|im_end|>"
    )
    calls = (json.dumps({"name": name, "arguments": {}}) for name in CALLS)
    tokenizer.add_tokens([AddedToken(f"<tool_call>\n{call}\n</tool_call>") for call in calls])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    templates = Path(trl.__file__).parent / "chat_templates"
    tokenizer.chat_template = (templates / "qwen3.jinja").read_text()
    return tokenizer


def main() -> None:
    """Train, and print how the mean reward rises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--reward", default="gained")
    options = parser.parse_args()
    torch.manual_seed(0)
    tokenizer = make_tokenizer()
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=4096,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    # `gained` pays for the goal, and for saying that it is done: the whole is hardly ever right by chance.
    rows = [{"prompt": [{"role": "user", "content": ""}], "seed": 0} for _ in range(16)]
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rows),
        environment_factory=environment(
            "gridworld", parameters={"size": options.size}, max_calls=8, reward=options.reward
        ),
        args=trl.GRPOConfig(
            output_dir="trained",
            max_steps=options.steps,
            learning_rate=5e-3,
            per_device_train_batch_size=16,
            num_generations=16,
            max_completion_length=48,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            lr_scheduler_type="constant",
            bf16=False,
            gradient_checkpointing=False,
        ),
    )
    trainer.train()
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    for start in range(0, len(rewards), 10):
        some = rewards[start : start + 10]
        print(f"steps {start + 1} to {start + len(some)}: mean reward {sum(some) / len(some):.2f}")


if __name__ == "__main__":
    main()

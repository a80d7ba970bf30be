"""A small language model learns a task of a service with TRL's GRPO: to copy what notes say into files.

    MESOCOSM_PATH=docs/examples/language_model mesocosm serve --port 8321   # says where its admin token lies
    pip install trl torch httpx2 matplotlib && pip install --no-deps mesocosm
    export MESOCOSM_URL=http://127.0.0.1:8321 MESOCOSM_ADMIN_TOKEN=...
    python docs/examples/language_model/train.py --plot curve.svg

The model begins with random weights, 300,000 of them. It reads what any model reads (the prompt, the schemas
of the tools, their results) and writes its calls as text, token by token. Traces of right play on other
instances teach it how calls are written; that is broken off when half of the cities that it would write are
right. The rest it learns from rewards.
"""

from __future__ import annotations

import argparse
import random
import re
from pathlib import Path
from typing import Any

import torch
import trl
from datasets import Dataset
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

import mesocosm
from mesocosm.hosting.client import BlockingEpisode
from mesocosm.training.trl import environment

PLACES = ("north", "south", "east", "west")
CITIES = ("Oslo", "Lima", "Cairo", "Delhi", "Quito", "Tunis", "Milan", "Osaka")
TOOLS = ("read_text_file", "write_file", "claim_done")
Message = dict[str, Any]


def call(name: str, **arguments: str) -> Message:
    """A tool call as chat templates take it."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def played(episode: BlockingEpisode) -> list[Message]:
    """Right play on an episode, as a conversation: each note is read, and then what it says is written."""
    messages: list[Message] = [{"role": "user", "content": episode.prompt}]
    calls = [call("read_text_file", path=f"notes/{PLACES[0]}.txt")]
    for place, following in zip(PLACES, (*PLACES[1:], None), strict=True):
        note = answered(episode, messages, calls)
        city = next(city for city in CITIES if city in note)
        after = call("read_text_file", path=f"notes/{following}.txt") if following else call("claim_done")
        calls = [call("write_file", path=f"{place}.txt", content=city), after]
    answered(episode, messages, calls)
    return [*messages, {"role": "assistant", "content": ""}]


def answered(episode: BlockingEpisode, messages: list[Message], calls: list[Message]) -> str:
    """Make calls, and add them and their results to a conversation. Returns the last result."""
    messages.append({"role": "assistant", "content": "", "tool_calls": calls})
    text = ""
    for one in calls:
        text = episode.act(one["function"]["name"], one["function"]["arguments"]).text
        messages.append({"role": "tool", "name": one["function"]["name"], "content": text})
    return text


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Knows bytes alone, until it is trained; a city and a place are words wherever they stand."""
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex("|".join((*CITIES, *PLACES, "\n"))), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    words.decoder = decoders.ByteLevel()
    words.add_special_tokens([AddedToken(name) for name in ("<pad>", "<|im_start|>", "<|im_end|>")])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<|im_end|>")
    templates = Path(trl.__file__).parent / "chat_templates"
    tokenizer.chat_template = (templates / "qwen2_5.jinja").read_text()
    return tokenizer


def train_tokenizer(tokenizer: PreTrainedTokenizerFast, texts: list[str]) -> PreTrainedTokenizerFast:
    """Merge what stands together often: a schema that is in all texts ends as a few tokens."""
    special = ["<pad>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=1200,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words = tokenizer.backend_tokenizer
    words.train_from_iterator([re.sub(r"<\|im_\w+\|>", "\n", text) for text in texts], trainer)
    trained = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<|im_end|>")
    trained.chat_template = tokenizer.chat_template
    return trained


def shuffled(text: str, dice: random.Random) -> str:
    """The same text with other cities: one for one."""
    others = dict(zip(CITIES, dice.sample(CITIES, len(CITIES)), strict=True))
    return re.sub("|".join(CITIES), lambda found: others[found[0]], text)


def warm_up(
    model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, texts: list[str], until: float
) -> None:
    """Imitate traces until that share of the cities written is right."""
    dice = random.Random(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    cities = torch.tensor([tokenizer.convert_tokens_to_ids(city) for city in CITIES])
    begin = "<|im_start|>assistant\n"
    right = 0.0
    for step in range(1, 1001):
        chosen = [shuffled(dice.choice(texts), dice) for _ in range(8)]
        batch = tokenizer(chosen, return_tensors="pt", padding=True, return_offsets_mapping=True)
        written = torch.zeros_like(batch["input_ids"], dtype=torch.bool)  # what the agent wrote
        for row, text in enumerate(chosen):
            for found in re.finditer(re.escape(begin) + r".*?<\|im_end\|>", text, re.S):
                starts = batch["offset_mapping"][row, :, 0]
                written[row] |= (starts >= found.start() + len(begin)) & (starts < found.end())
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits[:, :-1]
        wanted, counts = batch["input_ids"][:, 1:], written[:, 1:]
        loss = torch.nn.functional.cross_entropy(logits[counts], wanted[counts])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told = counts & torch.isin(wanted, cities)
        shares = logits[told].softmax(-1).gather(-1, wanted[told][:, None])
        right = (right + float(shares.detach().mean())) / 2
        if step % 20 == 0 or right >= until:
            print(f"warm-up {step}: loss {loss.item():.3f}, cities right {right:.2f}", flush=True)
        if right >= until:
            return


def main() -> None:
    """Warm up, train, and show how the reward rises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--traces", type=int, default=32)
    parser.add_argument("--until", type=float, default=0.5)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    torch.manual_seed(0)
    kind = environment("parcels", length="8k", max_calls=12, reward="gained")
    tools = [getattr(kind(), name) for name in TOOLS]
    with mesocosm.connect_sync() as m:
        orders = [{"task": "parcels", "length": "8k", "seed": 1000 + n} for n in range(options.traces)]
        conversations = []
        for episode in m.create_batch(orders):
            conversations.append(played(episode))
            episode.delete()
    tokenizer = make_tokenizer()
    texts = [
        tokenizer.apply_chat_template(one, tools=tools, tokenize=False).removesuffix("\n")
        for one in conversations
    ]
    tokenizer = train_tokenizer(tokenizer, texts)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=96,
            intermediate_size=192,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=2048,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            tie_word_embeddings=True,
            initializer_range=0.08,  # it is narrow: the usual 0.02 learns late to copy
        )
    )
    print(f"{model.num_parameters():,} weights; a trace has {len(tokenizer(texts[0])['input_ids'])} tokens")
    warm_up(model, tokenizer, texts, options.until)

    def rows(first: int, count: int) -> Dataset:
        return Dataset.from_list(
            [
                {"prompt": [{"role": "user", "content": ""}], "seed": seed}
                for seed in range(first, first + count)
            ]
        )

    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=rows(0, 32),
        eval_dataset=rows(100, 8),
        environment_factory=kind,
        args=trl.GRPOConfig(
            output_dir="trained",
            max_steps=options.steps,
            learning_rate=2e-4,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=32,
            num_generations=8,
            max_completion_length=240,
            scale_rewards="batch",
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            lr_scheduler_type="constant",
            bf16=False,
            gradient_checkpointing=False,
        ),
    )
    before = trainer.evaluate()["eval_reward"]
    trainer.train()
    curve = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    for start in range(0, len(curve), 10):
        some = curve[start : start + 10]
        print(f"steps {start + 1} to {start + len(some)}: mean reward {sum(some) / len(some):.2f}")
    after = trainer.evaluate()["eval_reward"]
    print(f"on eight instances that it has not seen: {before:.2f} before, {after:.2f} after")
    kind.close()
    if options.plot:
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(6, 3), layout="constrained")
        axes.plot(range(1, len(curve) + 1), curve)
        axes.set(xlabel="step of GRPO (32 rollouts)", ylabel="mean reward (gained)", ylim=(0, 1))
        figure.savefig(options.plot)


if __name__ == "__main__":
    main()

# A model of the reader's, with a chat template beside it, and chats.
mkdir -p chats models
python3 - data/tinyshakespeare.txt <<'PYTHON'
import json, sys
speeches = [speech.split("\n", 1)[1] for speech in open(sys.argv[1]).read()[:100_000].split("\n\n") if "\n" in speech]
for name, begin, end in ("train_1", 0, 80), ("train_2", 80, 160), ("held_out", 160, 200):
    with open(f"chats/{name}.jsonl", "w") as file:
        for said, answered in zip(speeches[begin:end:2], speeches[begin + 1:end:2]):
            messages = [{"role": "user", "content": said}, {"role": "assistant", "content": answered}]
            print(json.dumps({"messages": messages}), file=file)
PYTHON
head -c 300000 data/tinyshakespeare.txt >text.txt
monomorph-data train-tokenizer text.txt --vocab-size 2048 --output tokenizer.json \
  --special '<|endoftext|>' --special '<|im_start|>' --special '<|im_end|>'
monomorph-data pack text.txt --tokenizer tokenizer.json --output text.pbin
echo '{"data": {"train": "text.pbin", "tokenizer": "tokenizer.json"}, "schedule": {"warmup_steps": 1},
       "batch": {"global_batch": 2, "micro_batch": 2}, "run": {"steps": 2, "output_dir": "runs/first"}}' >first.json
small_llama --hparams first.json
small_llama export --checkpoint runs/first --output models/base
cat >models/base/chat_template.jinja <<'JINJA'
{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}{{ '<|im_start|>assistant\n' if add_generation_prompt }}
JINJA

# Texts, chats and a tokeniser of the reader's.
python3 - data/tinyshakespeare.txt <<'PYTHON'
import json, sys
text = open(sys.argv[1]).read()
for name, begin in ("train", 0), ("held_out", 100_000):
    with open(name + ".jsonl", "w") as file:
        for i in range(begin, begin + 50_000, 1000):
            print(json.dumps({"text": text[i:i + 1000]}), file=file)
PYTHON
monomorph-data train-tokenizer train.jsonl --vocab-size 512 --output tokenizer.json \
  --special '<|endoftext|>' --special '<|im_start|>' --special '<|im_end|>'
cp "$MONOMORPH_SOURCE_DIR/tests/fixtures/chat/set.jsonl" chats.jsonl

# What has been built trains in shards, and writes.
monomorph-data train-tokenizer data/tinyshakespeare.txt --vocab-size 512 --output tokenizer.json
monomorph-data pack data/tinyshakespeare.txt --tokenizer tokenizer.json --output train.pbin
echo '{"data": {"train": "train.pbin", "tokenizer": "tokenizer.json"}, "run": {"steps": 2, "output_dir": "runs/my"}}' >run.json
build/cpu/transformed --ranks 2 --hparams run.json
build/cpu/transformed generate --checkpoint runs/my --prompt ROMEO --max-tokens 5

# What has been built trains and writes.
monomorph-data train-tokenizer data/tinyshakespeare.txt --vocab-size 512 --output tokenizer.json
monomorph-data pack data/tinyshakespeare.txt --tokenizer tokenizer.json --output train.pbin
echo '{"data": {"train": "train.pbin", "tokenizer": "tokenizer.json"}, "run": {"steps": 2, "output_dir": "runs/my"}}' >run.json
build/cpu/my_recipe --hparams run.json
build/cpu/my_recipe generate --checkpoint runs/my --prompt ROMEO --max-tokens 5

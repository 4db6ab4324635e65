# bash train_test.sh PROJECT MONOMORPH_BUILD SOURCES: builds the project against Monomorph's build tree, and trains it on one rank and on
# two, in the fixed tree: every loss is the same text, and the last one is lower than the first. What compiles is CMake's choice
# by the environment.
set -euo pipefail
project=$1 monomorph=$2 sources=$3
folder=$(mktemp -d -t "a project ä XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cmake -S "$project" -B build -Dmonomorph_DIR="$monomorph"
cmake --build build
head -c 20000 "$sources/data/tinyshakespeare.txt" >text.txt
"$monomorph/monomorph-data" train-tokenizer text.txt --vocab-size 257 --output tokenizer.json
"$monomorph/monomorph-data" pack text.txt --tokenizer tokenizer.json --output train.pbin
echo '{"data": {"train": "train.pbin"}, "batch": {"global_batch": 4, "micro_batch": 2, "reduction": "fixed_tree"},
       "optimizer": {"alpha": 0.9}, "loss": {"gamma": 1.5}, "log": {"every": 1, "tensorboard": false}}' >run.json
for ranks in 1 2; do
  build/strange --ranks "$ranks" --hparams run.json --set run.steps=12 --set run.output_dir="of $ranks"
done
python3 - <<'CHECK'
import json
losses = [[json.loads(line)["loss"] for line in open(f"of {ranks}/metrics.jsonl")] for ranks in (1, 2)]
assert losses[0] == losses[1], losses
assert len(losses[0]) == 12 and losses[0][-1] < losses[0][0] - 0.3, losses[0]
CHECK
build/strange schema | grep -q '"gamma"'
if build/strange --hparams run.json --set optimizer.beta1=0.9 2>refusal; then
  exit 1
fi
grep -q 'HPARAM-01.*optimizer.beta1' refusal

# bash train_test.sh PROJECT PREFIX SOURCES: builds the project against the installation in PREFIX, and trains its recipes on one rank,
# on two and on four, which are two pairs to its sharding strategy: the decoders in the fixed tree to the same bits, the encoder to the
# same losses. check_runs.py compares what they wrote.
# What compiles is CMake's choice by the environment.
set -euo pipefail
project=$1 monomorph=$2/bin sources=$3
folder=$(mktemp -d -t "a project ä XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cmake -S "$project" -B build -DCMAKE_PREFIX_PATH="$2"
cmake --build build
head -c 20000 "$sources/data/tinyshakespeare.txt" >text.txt
"$monomorph/monomorph-data" train-tokenizer text.txt --vocab-size 257 --output tokenizer.json
"$monomorph/monomorph-data" pack text.txt --tokenizer tokenizer.json --output train.pbin
echo '{"run": {"steps": 12}, "data": {"train": "train.pbin"}, "log": {"every": 1, "tensorboard": false},
       "batch": {"global_batch": 4, "micro_batch": 1, "reduction": "fixed_tree"}, "checkpoint": {"every": 1, "keep": "all"},
       "optimizer": {"alpha": 0.9}, "loss": {"gamma": 1.5}, "schedule": {"rise": 3, "cool_down": 5}}' >run.json
for recipe in strange watched; do
  for ranks in 1 2 4; do
    build/$recipe --ranks "$ranks" --hparams run.json --set run.output_dir="$recipe of $ranks"
    "$monomorph/monomorph-checkpoint" digest "$recipe of $ranks" >"digest of $recipe of $ranks"
    cmp "digest of strange of 1" "digest of $recipe of $ranks"
  done
done
build/watched --ranks 2 --hparams run.json --set run.output_dir=resumed
build/watched --ranks 2 --hparams run.json --set run.output_dir=resumed --set checkpoint.resume="resumed/checkpoints/step_00000008"

# A kind of model of the project's own: trained in shards to the bits of one rank, described, and continued with a cache.
echo '{"run": {"steps": 8}, "data": {"train": "train.pbin", "tokenizer": "tokenizer.json"}, "log": {"tensorboard": false},
       "batch": {"global_batch": 4, "micro_batch": 2, "reduction": "fixed_tree"}, "optimizer": {"alpha": 0.9}}' >kind.json
for ranks in 1 2; do
  build/transformed --ranks "$ranks" --hparams kind.json --set run.output_dir="transformed of $ranks"
  "$monomorph/monomorph-checkpoint" digest "transformed of $ranks" >"digest of transformed of $ranks"
done
cmp "digest of transformed of 1" "digest of transformed of 2"
[ "$(build/transformed describe | grep -c 'transform_bias *true$\|^  transform.weight *64 x 64 ')" = 2 ]
[ "$(build/transformed generate --checkpoint "transformed of 2" --prompt the --max-tokens 5 --greedy | wc -c)" -gt 5 ]

# A part of a block, and a fine-tuning policy: in shards on several ranks to the bits of one, and continued with a cache.
echo '{"run": {"steps": 12}, "data": {"train": "train.pbin", "tokenizer": "tokenizer.json"}, "log": {"every": 1, "tensorboard": false},
       "batch": {"global_batch": 4, "micro_batch": 1, "reduction": "fixed_tree"}, "checkpoint": {"every": 1, "keep": "all"},
       "optimizer": {"lr": 1e-2}}' >tune.json
for ranks in 1 2 4; do
  build/tuned --ranks "$ranks" --hparams tune.json --set run.output_dir="tuned of $ranks"
  "$monomorph/monomorph-checkpoint" digest "tuned of $ranks" >"digest of tuned of $ranks"
  cmp "digest of tuned of 1" "digest of tuned of $ranks"
done
[ "$(build/tuned describe | grep -c 'two hidden layers of width 128\|stranger::AdaptersAndNorms$')" = 2 ]
[ "$(build/tuned generate --checkpoint "tuned of 2" --prompt the --max-tokens 5 --greedy | wc -c)" -gt 5 ]

# A precision: what ranks send is rounded, so that several of them make almost what one does.
for ranks in 1 2 4; do
  build/lean --ranks "$ranks" --hparams run.json --set batch.reduction=any_order --set run.output_dir="lean of $ranks"
done

# Encoders, of which one is a kind of model of the project's own: two neighbouring lines are a pair, and pairs of all ranks are compared with each other.
python3 -c 'import json, sys
lines = [line.strip() for line in sys.stdin if len(line) > 20]
for query, positive in zip(lines[::2], lines[1::2]):
    print(json.dumps({"query": query, "positive": positive}))' <text.txt >pairs.jsonl
"$monomorph/monomorph-data" pairs pairs.jsonl --tokenizer tokenizer.json --sequence-length 64 --output pairs.pbin
echo '{"run": {"steps": 30}, "data": {"train": "pairs.pbin", "evaluation": "pairs.pbin", "tokenizer": "tokenizer.json"},
       "batch": {"global_batch": 8}, "log": {"every": 1, "tensorboard": false}, "schedule": {"warmup_steps": 3},
       "optimizer": {"lr": 3e-4}, "loss": {"margin": 0.3}}' >match.json
for recipe in matched transformed_pairs; do
  for ranks in 1 2 4; do
    build/$recipe --ranks "$ranks" --hparams match.json --set batch.micro_batch=$((8 / ranks)) --set run.output_dir="$recipe of $ranks"
  done
  grep 'recall@1' <<<"$(build/$recipe retrieve --checkpoint "$recipe of 2")"
done
grep 'stranger::TransformedEncoder' <<<"$(build/transformed_pairs describe)"
python3 "$(dirname "$0")/check_runs.py"

schema=$(build/watched schema)
for field in gamma alpha cool_down stop_above; do
  grep -q "\"$field\"" <<<"$schema"
done
grep -q '"margin"' <<<"$(build/matched schema)"
[ "$(build/watched describe | grep -c 'stranger::\(Trapezoid\|Watch\)$')" = 2 ]
build/strange describe | grep 'stranger::SquaredMlp (hidden width 128)' >/dev/null

# What observes is in the program of the recipe that asks for it, and in no other.
nm -C build/watched | grep 'StepObserverOf<' >symbols
if nm -C build/strange | grep 'StepObserverOf<' >symbols; then
  exit 1
fi

refuses() {  # refuses EXIT_CODE TEXT COMMAND...: it ends with this code, and says so in one line
  local code=$1 text=$2 got=0
  shift 2
  "$@" 2>refusal || got=$?
  [ "$got" = "$code" ] && [ "$(wc -l <refusal)" = 1 ] && grep -q "$text" refusal || { cat refusal; exit 1; }
}
refuses 2 'HPARAM-01.*optimizer.beta1' build/strange --hparams run.json --set optimizer.beta1=0.9
refuses 2 'HPARAM-01.*schedule.kind' build/strange --hparams run.json --set schedule.kind=wsd
refuses 2 'STRANGE-01.*rise + schedule.cool_down = 3 + 10' build/strange --hparams run.json --set schedule.cool_down=10
refuses 2 'HPARAM-01.*loss.temperature' build/matched --hparams match.json --set loss.temperature=0.1
refuses 2 'HPARAM-01.*observer' build/strange --hparams run.json --set observer.every=2
refuses 1 'RUN-23.*stranger::Watch.*step 6: the loss is ' build/watched --hparams run.json --set run.output_dir=stopped \
  --set checkpoint.every=4 --set observer.every=6 --set observer.stop_above=0.1
"$monomorph/monomorph-checkpoint" verify stopped
[ "$(ls stopped/checkpoints)" = step_00000004 ]
# What observes and how the rate goes is not the state: another recipe goes on from there.
build/strange --hparams run.json --set run.output_dir=stopped --set checkpoint.resume=auto --set checkpoint.every=never |
  grep 'observer: stranger::Watch there, none here'
"$monomorph/monomorph-checkpoint" digest stopped >digest
cmp "digest of strange of 1" digest

# bash slurm_job_test.sh REPOSITORY: when examples/jobs/slurm.sh puts its job back into the queue, and with which exit code
# it ends.
set -euo pipefail
repository=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# srun ends with $SRUN_EXIT_CODE and leaves its arguments and the CPUs of a task; scontrol leaves its arguments.
cat >"$folder/srun" <<'EOF'
#!/usr/bin/env bash
echo "$* on $SRUN_CPUS_PER_TASK" >"$FOLDER/srun_called"
exit "$SRUN_EXIT_CODE"
EOF
cat >"$folder/scontrol" <<'EOF'
#!/usr/bin/env bash
echo "$*" >"$FOLDER/scontrol_called"
EOF
chmod +x "$folder/srun" "$folder/scontrol"

check() {  # EXIT_CODE RESTARTS EXPECTED_CALL_OF_SCONTROL
  local code=0 called=""
  rm -f "$folder/scontrol_called"
  env PATH="$folder:$PATH" FOLDER="$folder" SRUN_EXIT_CODE="$1" SLURM_RESTART_COUNT="$2" SLURM_CPUS_PER_TASK=4 \
    SLURM_JOB_ID=17 bash "$repository/examples/jobs/slurm.sh" || code=$?
  if [ -f "$folder/scontrol_called" ]; then
    called=$(cat "$folder/scontrol_called")
  fi
  if [ "$code" != "$1" ] || [ "$called" != "$3" ]; then
    echo "srun's $1 after $2 restarts: exit code $code, scontrol called with \"$called\" instead of \"$3\"" >&2
    exit 1
  fi
}

check 0 0 ""
check 2 0 ""
check 1 0 "requeue 17"
check 137 0 "requeue 17"  # killed, as for its memory
check 75 0 "requeue 17"
check 1 100 ""
check 75 100 "requeue 17"  # as often as the run needs

called=$(cat "$folder/srun_called")
for part in "checkpoint.resume=auto" "failure.exit_code_when_interrupted=75" "on 4"; do
  if [[ $called != *"$part"* ]]; then
    echo "srun was called with: $called, which lacks $part" >&2
    exit 1
  fi
done

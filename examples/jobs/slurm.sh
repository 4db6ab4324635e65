#!/usr/bin/env bash
# sbatch examples/jobs/slurm.sh: four nodes of eight ranks. The job goes back into the queue when a node fails
# (--requeue), when it was interrupted, as before its time is over, and when it failed; checkpoint.resume=auto goes on
# from the last whole checkpoint, or from the beginning the first time. Wrong arguments (exit code 2) would be wrong again.
#SBATCH --job-name=my_gpt
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=4
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --signal=TERM@300
#SBATCH --output=my_gpt-%j.log
#SBATCH --open-mode=append
set -euo pipefail

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK  # which srun does not take from the job's options since Slurm 22.05
interrupted=75 most_restarts=100
code=0
# --signal asks every rank, and not this script, to save and end five minutes before the time is over: more than a step
# and a save take. Ranks end by themselves, each with the code that says why: srun, which returns the highest, is to kill
# none. run.output_dir in run.json must lie on a file system that all nodes see.
srun --kill-on-bad-exit=0 ./my_gpt --hparams run.json --set checkpoint.resume=auto \
  --set failure.exit_code_when_interrupted=$interrupted || code=$?
case $code in
  0 | 2) ;;
  "$interrupted") scontrol requeue "$SLURM_JOB_ID" ;;
  *) [ "${SLURM_RESTART_COUNT:-0}" -ge "$most_restarts" ] || scontrol requeue "$SLURM_JOB_ID" ;;
esac
exit "$code"

#!/usr/bin/env bash
# sbatch examples/jobs/slurm.sh: four nodes of eight ranks. Slurm starts the job again when a node fails (--requeue), and
# checkpoint.resume=auto goes on from the last whole checkpoint, or from the beginning the first time.
#SBATCH --job-name=my_gpt
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=4
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --signal=TERM@120
#SBATCH --output=my_gpt-%j.log
set -euo pipefail

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
# --signal asks every rank to save and end two minutes before the time is over.
# run.output_dir in run.json must lie on a file system that all nodes see.
exec srun --kill-on-bad-exit=1 ./my_gpt --hparams run.json --set checkpoint.resume=auto

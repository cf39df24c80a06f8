#!/bin/bash
# The paper's grid as an array of shards, here 4 of 2 GPUs each (a recipe's tensor_parallel_size):
#
#   sbatch --array=1-4 --gpus=2 recipes/slurm_cuda.sh Qwen3-32B
#   cogniload eval --merge runs/Qwen3-32B        # when all have ended
#
# After a time limit or a crash, the same sbatch line continues; shards that are done end at once.
#SBATCH --job-name=cogniload
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=128G
#SBATCH --time=24:00:00
#SBATCH --output=%x-%A-%a.log

set -euo pipefail
model=${1:?name a recipe, such as Qwen3-32B}
export HF_HUB_OFFLINE=1  # the model was fetched before: nodes often have no network

# srun by itself takes one core: since Slurm 22.05 it leaves sbatch's number out
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" cogniload eval \
  --config "recipes/$model.yaml" --output_path "runs/$model" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"

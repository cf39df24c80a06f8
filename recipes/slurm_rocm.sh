#!/bin/bash
# The paper's grid as an array of shards, here 4 of 2 MI250X halves each (Slurm counts halves as
# GPUs), in a container with vLLM for ROCm and a virtual environment with CogniLoad (README.md):
#
#   sbatch --array=1-4 --gpus-per-node=2 recipes/slurm_rocm.sh Qwen3-32B
#   cogniload eval --merge runs/Qwen3-32B        # when all have ended
#
# After a time limit or a crash, the same sbatch line continues; shards that are done end at once.
#SBATCH --job-name=cogniload
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=14
#SBATCH --mem=120G
#SBATCH --time=24:00:00
#SBATCH --output=%x-%A-%a.log

set -euo pipefail
model=${1:?name a recipe, such as Qwen3-32B}
image=${COGNILOAD_IMAGE:?the container image, a .sif file}
environment=${COGNILOAD_VENV:-$HOME/cogniload}
export HF_HUB_OFFLINE=1  # the model was fetched before: nodes often have no network

# srun by itself takes one core: since Slurm 22.05 it leaves sbatch's number out
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  singularity exec --rocm --bind "$PWD,${HF_HOME:-$HOME/.cache/huggingface}" "$image" \
  "$environment/bin/cogniload" eval --config "recipes/$model.yaml" --output_path "runs/$model" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"

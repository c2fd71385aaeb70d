#!/bin/sh
# Writes dagster.yaml for a home that has none, then runs the command of the container. The folder of a home at a
# URL is in its working folder, whose name is known only now; a DAGSTER_HOME that is set up already stays.
set -eu
folder=$(python -c 'import os; from chunk_assets.defs.home import instance_folder; print(instance_folder(os.environ["CHUNK_ASSETS_HOME"]))')
[ -f "${DAGSTER_HOME:-}/dagster.yaml" ] || export DAGSTER_HOME="$folder"
exec "$@"

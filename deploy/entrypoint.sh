#!/bin/sh
# Writes dagster.yaml into a home that has none, then runs the command of the container.
set -eu
python -c 'import os; from chunk_assets.defs.home import instance_folder; instance_folder(os.environ["CHUNK_ASSETS_HOME"])'
exec "$@"

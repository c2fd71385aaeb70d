"""What Celery workers read: put this folder on their PYTHONPATH. They take one run at a time each."""

import os

broker_url = result_backend = os.environ["CHUNK_ASSETS_CELERY_BROKER"]
# A run is as long as its batch: a worker holds no second one back while another worker is idle.
worker_prefetch_multiplier = 1
worker_concurrency = 1

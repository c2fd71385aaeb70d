"""Whether the tables are what they claim to be, re-derived; and making faulty parts anew."""

from chunk_assets.verify.audit import verify
from chunk_assets.verify.faults import Fault
from chunk_assets.verify.mend import repair

__all__ = ["Fault", "repair", "verify"]

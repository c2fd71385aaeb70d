"""What every group of settings has in common, and the kinds of their values."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


def _name(value: str) -> str:
    if not NAME.fullmatch(value):
        msg = f"{value!r} is not a name: lower-case letters, digits and _, starting with a letter"
        raise ValueError(msg)
    return value


Name = Annotated[str, AfterValidator(_name)]
Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, list | dict) else str(value))]


class Settings(BaseModel):
    """Base of every group of settings: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

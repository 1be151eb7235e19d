"""Input perturbation, the contributor's side: a record goes in, a noisy message comes out.

It stands on the schema, the formula, the reader of rows and the sampler of noise, and needs no other part of
the package. The server's side is :mod:`dpstats.contributions`, which sees plans and messages only.
"""

from dpstats.contributors.message import Message, contribute, contribute_rows, write_messages
from dpstats.contributors.plan import Plan, plan_contributions

__all__ = [
    "Message",
    "Plan",
    "contribute",
    "contribute_rows",
    "plan_contributions",
    "write_messages",
]

"""One short page per model: the family, estimator and names it ties together."""

from dpstats.models.coxph import Coxph, coxph
from dpstats.models.describe import describe
from dpstats.models.glm import GlmModel, glm, logit
from dpstats.models.kaplan_meier import KaplanMeier, kaplan_meier
from dpstats.models.linear import LinearModel, ols, ridge
from dpstats.models.public import public_moments
from dpstats.models.survreg import Survreg, survreg
from dpstats.models.svm import Svm, svm

__all__ = [
    "Coxph",
    "GlmModel",
    "KaplanMeier",
    "LinearModel",
    "Survreg",
    "Svm",
    "coxph",
    "describe",
    "glm",
    "kaplan_meier",
    "logit",
    "ols",
    "public_moments",
    "ridge",
    "survreg",
    "svm",
]

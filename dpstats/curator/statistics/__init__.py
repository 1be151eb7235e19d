"""Bounded statistics of a row, each with its sensitivity and the proof of it."""

from collections.abc import Callable

from dpstats.curator.statistics.base import Statistic
from dpstats.curator.statistics.bend import PredictorBend
from dpstats.curator.statistics.box import BoxMoments
from dpstats.curator.statistics.cells import CellCounts
from dpstats.curator.statistics.columns import ColumnMeans, ColumnOctaves
from dpstats.curator.statistics.contrasts import HazardContrasts
from dpstats.curator.statistics.functional import FunctionalWeights
from dpstats.curator.statistics.glm import FarScores, GlmScore, LogisticScore
from dpstats.curator.statistics.hazard_score import HazardScore, HazardTrend
from dpstats.curator.statistics.inspections import InspectionCounts
from dpstats.curator.statistics.interval_counts import EntryCounts, ExitCounts
from dpstats.curator.statistics.known_scale import KnownScaleAlone, KnownScaleScore, KnownScaleSize
from dpstats.curator.statistics.loglik import LogLikelihood
from dpstats.curator.statistics.margin import MarginCurvature, MarginSandwich, MarginScores
from dpstats.curator.statistics.martingale import LocationScore, MartingaleScore
from dpstats.curator.statistics.martingale_parts import InformationSizes, ScoreAlone
from dpstats.curator.statistics.moments import EventMatrix, EventMoments
from dpstats.curator.statistics.present import PresentMoments, PresentProducts
from dpstats.curator.statistics.reach import ReachCounts, ReachMeans
from dpstats.curator.statistics.residual_counts import ResidualCounts
from dpstats.curator.statistics.residuals import ResidualMoments
from dpstats.curator.statistics.rivals import LikelihoodContrasts
from dpstats.curator.statistics.row_reach import RowReach
from dpstats.curator.statistics.score import ResidualScore
from dpstats.curator.statistics.score_tails import ScoreTails
from dpstats.curator.statistics.signs import SignScore, SignSizes
from dpstats.curator.statistics.strata_score import StrataScore
from dpstats.curator.statistics.truncated import TruncatedCross, TruncatedGram, TruncatedTriangle
from dpstats.curator.statistics.truncated_glm import TruncatedInformation, TruncatedScore

__all__ = ["REGISTRY", "Statistic"]

REGISTRY: dict[str, Callable[..., Statistic]] = {
    statistic.name: statistic
    for statistic in (
        EventMoments,
        EventMatrix,
        LocationScore,
        MartingaleScore,
        ScoreAlone,
        InformationSizes,
        KnownScaleScore,
        KnownScaleAlone,
        KnownScaleSize,
        StrataScore,
        SignScore,
        SignSizes,
        HazardContrasts,
        HazardScore,
        HazardTrend,
        InspectionCounts,
        ResidualMoments,
        BoxMoments,
        ResidualScore,
        ResidualCounts,
        RowReach,
        TruncatedGram,
        TruncatedTriangle,
        TruncatedCross,
        ColumnMeans,
        ColumnOctaves,
        LogisticScore,
        GlmScore,
        FarScores,
        TruncatedScore,
        TruncatedInformation,
        MarginCurvature,
        MarginScores,
        MarginSandwich,
        FunctionalWeights,
        EntryCounts,
        ExitCounts,
        LogLikelihood,
        LikelihoodContrasts,
        ReachMeans,
        ReachCounts,
        PredictorBend,
        ScoreTails,
        CellCounts,
        PresentMoments,
        PresentProducts,
    )
}

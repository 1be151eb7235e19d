"""Bounded statistics of a row, each with its sensitivity and the proof of it."""

from collections.abc import Callable

from dpstats.curator.statistics.at_line import PredictorBend, ScoreTails
from dpstats.curator.statistics.at_residuals import HazardContrasts, SignScore, SignSizes
from dpstats.curator.statistics.base import Statistic
from dpstats.curator.statistics.bends import ColumnBends, HazardBend, LocationBend
from dpstats.curator.statistics.cells import CellCounts, PresentMoments, PresentProducts
from dpstats.curator.statistics.columns import ColumnMeans, ReachCounts, ReachMeans, RowsApart
from dpstats.curator.statistics.functional import FunctionalWeights
from dpstats.curator.statistics.glm import FarScores, GlmScore, LogisticScore, ScoreSquares
from dpstats.curator.statistics.hazard_score import HazardScore, HazardTrend
from dpstats.curator.statistics.interval_counts import EntryCounts, ExitCounts, InspectionCounts
from dpstats.curator.statistics.loglik import LikelihoodContrasts, LogLikelihood
from dpstats.curator.statistics.margin import MarginCurvature, MarginSandwich, MarginScores
from dpstats.curator.statistics.martingale import (
    InformationSizes,
    LocationScore,
    MartingaleScore,
    ScoreAlone,
    StrataScore,
)
from dpstats.curator.statistics.moments import BallMoments, EventMatrix, EventMoments
from dpstats.curator.statistics.pilot import ResidualCounts, ResidualMoments, ResidualScore, RowReach
from dpstats.curator.statistics.truncated import (
    TruncatedCross,
    TruncatedGram,
    TruncatedInformation,
    TruncatedScore,
    TruncatedTriangle,
)

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
        StrataScore,
        SignScore,
        SignSizes,
        HazardContrasts,
        HazardScore,
        HazardTrend,
        HazardBend,
        LocationBend,
        InspectionCounts,
        ResidualMoments,
        BallMoments,
        ResidualScore,
        ResidualCounts,
        RowReach,
        TruncatedGram,
        TruncatedTriangle,
        TruncatedCross,
        ColumnMeans,
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
        RowsApart,
        PredictorBend,
        ColumnBends,
        ScoreSquares,
        ScoreTails,
        CellCounts,
        PresentMoments,
        PresentProducts,
    )
}

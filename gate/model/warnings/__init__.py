"""All warnings of estimates, findings and reports: a closed union of small types, each with its sentence."""

from __future__ import annotations

from collections.abc import Iterable

from gate.model.names import Side
from gate.model.warnings import checkout, estimates, hosts, measured, setup, study
from gate.model.warnings.base import Base, Said


class OfRun(Base, frozen=True):
    """A warning of one of two runs that are compared."""

    run: Side
    """Which of the two."""
    warning: AnyWarning

    def _said(self) -> str:
        return f"{self.run}'s run: {self.warning.sentence()}"


AnyWarning = (
    OfRun
    | Said
    | estimates.NotExact
    | estimates.BuildsCut
    | estimates.BuildsUnlike
    | estimates.FewExecutions
    | estimates.OneSidedSessions
    | estimates.RoundsLeftOut
    | estimates.OneUnit
    | estimates.NoSpread
    | estimates.FlatResampling
    | estimates.NoiseCountedTwice
    | estimates.FewUnits
    | estimates.UndefinedResamples
    | estimates.ImpreciseLimits
    | estimates.Trend
    | estimates.Drift
    | estimates.OrderEffect
    | estimates.SessionsDiffer
    | estimates.RatioBySession
    | estimates.DependsOnMachine
    | estimates.Autocorrelation
    | estimates.NormalTail
    | estimates.Implausible
    | estimates.BeyondWarn
    | estimates.EarlyStop
    | estimates.UnlikeSpreads
    | estimates.CarryOver
    | estimates.NoisierThanRemembered
    | estimates.NoisyHost
    | hosts.UnfitHost
    | hosts.Event
    | hosts.SeveralMachines
    | hosts.SidesApart
    | hosts.SidesMixed
    | measured.TornLine
    | measured.SelectedOnly
    | measured.RequestsFailed
    | measured.ForeignValues
    | measured.SidesByOrder
    | measured.ColumnsOfFile
    | measured.LinesLeftOut
    | measured.WithoutValues
    | measured.FiguresOfTool
    | measured.SameValues
    | measured.MeasuredSeparately
    | measured.RoundsShort
    | measured.BudgetRounds
    | measured.AfterLastLook
    | measured.ExecutionsShort
    | measured.PartsShort
    | measured.TwoSessions
    | measured.LooksIgnored
    | measured.UndecidedBenchmarks
    | measured.UnknownDirection
    | measured.MetricMissing
    | measured.UnknownUnit
    | measured.LinkedBuilds
    | measured.NoneOfBuilds
    | measured.NotSteady
    | measured.Outlived
    | measured.ValuesShort
    | measured.IdenticalBuilds
    | measured.IdenticalSides
    | measured.SameCommit
    | measured.ProvedInPart
    | measured.OneTree
    | measured.NoBuildCommand
    | measured.TwoPrograms
    | measured.MissingAllowed
    | measured.BuildNeedsGit
    | measured.SetUpDifferently
    | measured.NotComparable
    | setup.BaseAhead
    | setup.DirtySubmodule
    | setup.EmbeddedRepository
    | setup.LeftBehind
    | setup.LfsPointers
    | setup.BaseWithoutConfig
    | setup.BaseBroken
    | setup.Renamed
    | setup.NothingToCompare
    | setup.HeadWithoutConfig
    | setup.RulesChanged
    | setup.MeasuringChanged
    | setup.BuildChanged
    | setup.ExpiredAccept
    | setup.FewBuilds
    | setup.FewBuildsPerMachine
    | setup.FewBuildsForBootstrap
    | setup.NoLooksByBootstrap
    | setup.FewIterationsForSteady
    | setup.NoEarlyStop
    | setup.DuetOnOneProcessor
    | setup.ZeroThreshold
    | setup.SpawnInstead
    | setup.InstrumentLimits
    | setup.StartedByShim
    | setup.BudgetHoldsFew
    | setup.NothingRemembered
    | setup.HistoryUnusable
    | setup.MemoryOfOneSession
    | setup.MemoryOfOneFile
    | setup.MemoryOfOtherMachine
    | setup.MemoryOfOtherSetup
    | checkout.NoCommonCommit
    | checkout.SubmoduleAbsent
    | checkout.SubmoduleLacksCommit
    | checkout.PointersCheckedOut
    | checkout.LfsNotFetched
    | checkout.TokenLeft
    | checkout.CheckoutChanged
    | checkout.MoreWarnings
    | study.OnOneSide
    | study.ResponseUndeclared
    | study.FactorUnused
    | study.OneReplicate
    | study.ReplicatesAdded
    | study.BuiltOnce
    | study.OneSessionEach
)
"""Every kind there is."""


def typed(warnings: Iterable[AnyWarning | str]) -> list[AnyWarning]:
    """Take texts of a run line, as an older perfgate or another program wrote it, for what they are."""
    return [Said(warning) if isinstance(warning, str) else warning for warning in warnings]

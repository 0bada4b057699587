//! Figures of studies by their names, so that one word makes each.

use iolag_model::Phase;

use super::error::FigureError;
use super::kind::{FigureKind, FigureSource, names};
use super::of_histories::choice::EcdfCurves;

/// A figure of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigurePreset {
    /// As in `000-1`: the study and the figure in it.
    pub name: &'static str,
    /// What is drawn.
    pub kind: FigureKind,
    /// Of what.
    pub source: FigureSource,
    /// Of a history: the task.
    pub task: Option<&'static str>,
    /// Of a history: which curves an ECDF has.
    pub curves: EcdfCurves,
    /// Of runs: the phase.
    pub phase: Option<Phase>,
    /// Of runs: what they are runs of.
    pub workload: &'static str,
}

const fn of_history(
    name: &'static str,
    kind: FigureKind,
    task: &'static str,
    curves: EcdfCurves,
) -> FigurePreset {
    let source = FigureSource::History;
    FigurePreset { name, kind, source, task: Some(task), curves, phase: None, workload: "" }
}

const fn of_runs(name: &'static str, kind: FigureKind, workload: &'static str) -> FigurePreset {
    let (source, curves) = (FigureSource::Runs, EcdfCurves::Whole);
    FigurePreset { name, kind, source, task: None, curves, phase: Some(Phase::Benchmark), workload }
}

const fn of_sides(name: &'static str, kind: FigureKind) -> FigurePreset {
    let (source, curves) = (FigureSource::Sides, EcdfCurves::Whole);
    FigurePreset { name, kind, source, task: None, curves, phase: None, workload: "" }
}

impl FigurePreset {
    /// All of them: figures 1 to 6 of study 000, the percent of study 001, those of study 002 and those of study 004.
    pub const ALL: [Self; 15] = [
        of_history("000-1", FigureKind::TimeLine, "compile", EcdfCurves::Whole),
        of_history("000-2", FigureKind::TimeLine, "list", EcdfCurves::Whole),
        of_history("000-3", FigureKind::TimeLine, "create", EcdfCurves::Whole),
        of_history("000-4", FigureKind::Ecdf, "compile", EcdfCurves::Whole),
        of_history("000-5", FigureKind::Ecdf, "list", EcdfCurves::WithBeforeAfter),
        of_history("000-6", FigureKind::Ecdf, "create", EcdfCurves::Whole),
        of_sides("001-1", FigureKind::Compare),
        of_history("002-1", FigureKind::MeanByDay, "job-setup", EcdfCurves::Whole),
        of_history("002-2", FigureKind::TimeoutsByDay, "job-setup", EcdfCurves::Whole),
        of_runs("002-3", FigureKind::Sweep, "setup"),
        of_history("002-4", FigureKind::MeanByDay, "job-setup", EcdfCurves::Whole),
        of_history("002-5", FigureKind::TimeoutsByDay, "job-setup", EcdfCurves::Whole),
        of_runs("004-time-line", FigureKind::TimeLine, "metadata"),
        of_runs("004-density", FigureKind::Histogram, "metadata"),
        of_runs("004-box", FigureKind::Box, "metadata"),
    ];

    /// The one of this name.
    ///
    /// # Errors
    /// If there is none; the sentence names all.
    pub fn named(name: &str) -> Result<Self, FigureError> {
        let unknown = || FigureError::UnknownPreset { name: name.to_owned(), known: Self::list_in_words() };
        Self::ALL.into_iter().find(|preset| preset.name == name).ok_or_else(unknown)
    }

    /// All names, as in `a, b or c`.
    pub fn list_in_words() -> String {
        names(Self::ALL.iter().map(|preset| preset.name))
    }

    /// Refuses what it is not drawn of.
    ///
    /// # Errors
    /// If `source` is another.
    pub fn check(&self, source: FigureSource) -> Result<(), FigureError> {
        if source == self.source {
            return Ok(());
        }
        let typed = match self.source {
            FigureSource::Runs => "RUN",
            FigureSource::History => "history",
            FigureSource::Sides => "SIDE",
        };
        Err(FigureError::PresetOfOther { name: self.name, needed: self.source.to_string(), typed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_known_by_its_name_and_drawn_of_what_its_kind_is() {
        for preset in FigurePreset::ALL {
            assert_eq!(FigurePreset::named(preset.name), Ok(preset));
            assert_eq!((preset.kind.check(preset.source), preset.check(preset.source)), (Ok(()), Ok(())));
        }
        let unknown = FigurePreset::named("000-7").unwrap_err().to_string();
        assert!(
            unknown.contains("000-1, 000-2,") && unknown.ends_with("004-density or 004-box"),
            "{unknown}"
        );
        let other = FigurePreset::ALL[0].check(FigureSource::Runs).unwrap_err().to_string();
        assert_eq!(other, "figure 000-1 is drawn of a history: write `iolag plot --figure 000-1 history …`");
    }
}

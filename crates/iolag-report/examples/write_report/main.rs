//! Writes sample reports for the tests of the page, each with the JSON of its runs beside it:
//! `cargo run -p iolag-report --example write_report -- DIRECTORY [SAMPLES]`. SAMPLES adds a report of about so many.

mod made_up;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Instant;

use iolag_analysis::figure::{Figures, SweepRun, sweep_figures};
use iolag_analysis::{
    CheckAnalysis, Grouping, MetadataAnalysis, PingAnalysis, analyse_check, analyse_metadata, analyse_ping,
};
use iolag_model::WorkloadSpec;
use iolag_report::{HtmlReport, Judged, ReportedRun, write_html, write_json};

use made_up::MadeUp;

/// What was found out about a run, whichever kind it is.
enum Analysis {
    Check(CheckAnalysis),
    Metadata(MetadataAnalysis),
    Ping(PingAnalysis),
}

impl Analysis {
    fn of(run: &MadeUp) -> Self {
        match run.record.spec.workload {
            WorkloadSpec::Check(_) => {
                let targets = NonZeroU32::new(run.record.targets.len() as u32);
                let summaries = run.summaries(Grouping { targets, ..Grouping::default() });
                Self::Check(analyse_check(&run.record, &summaries))
            }
            WorkloadSpec::Metadata(_) => {
                let stages = NonZeroU32::new(run.record.stages.len() as u32);
                let summaries = run.summaries(Grouping { stages, ..Grouping::default() });
                Self::Metadata(analyse_metadata(&run.record, &summaries))
            }
            WorkloadSpec::Ping(_) => {
                let summaries = run.summaries(Grouping::default());
                Self::Ping(analyse_ping(&run.record, &summaries))
            }
        }
    }

    const fn judged(&self) -> Judged<'_> {
        match self {
            Self::Check(analysis) => Judged::Check(analysis),
            Self::Metadata(analysis) => Judged::Metadata(analysis),
            Self::Ping(analysis) => Judged::Ping(analysis),
        }
    }
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let directory = match arguments.next() {
        Some(directory) => PathBuf::from(directory),
        None => std::env::temp_dir().join("iolag-sample-reports"),
    };
    let samples: Option<u64> = arguments.next().and_then(|text| text.to_str()?.parse().ok());
    std::fs::create_dir_all(&directory)?;
    let reports: [(&str, Vec<MadeUp>); 7] = [
        ("check", vec![MadeUp::check()]),
        ("metadata", vec![MadeUp::metadata(4, 400, 0x3fa7)]),
        ("several", (0..4).map(|power| MadeUp::metadata(1 << power, 150, 0x4000 + power)).collect()),
        ("empty", vec![MadeUp::empty()]),
        ("all-errors", vec![MadeUp::all_errors()]),
        ("one-sample", vec![MadeUp::one_sample()]),
        ("script", vec![MadeUp::script()]),
    ];
    for (name, runs) in &reports {
        write_report(&directory, name, runs)?;
    }
    if let Some(samples) = samples {
        // 14 operations per object over all stages, by 4 clients.
        write_report(&directory, "large", &[MadeUp::metadata(4, samples / 56, 0x5000)])?;
    }
    Ok(())
}

fn write_report(directory: &Path, name: &str, runs: &[MadeUp]) -> io::Result<()> {
    let analyses: Vec<Analysis> = runs.iter().map(Analysis::of).collect();
    let sweep_runs: Vec<SweepRun<'_>> = runs
        .iter()
        .zip(&analyses)
        .filter_map(|(run, analysis)| match analysis {
            Analysis::Metadata(analysis) => Some(SweepRun { record: &run.record, analysis }),
            Analysis::Check(_) | Analysis::Ping(_) => None,
        })
        .collect();
    let figures = Figures::new(runs.iter().map(MadeUp::figures).collect(), sweep_figures(&sweep_runs));
    let reported: Vec<ReportedRun<'_>> = runs
        .iter()
        .zip(&analyses)
        .map(|(run, analysis)| ReportedRun { record: &run.record, judged: analysis.judged() })
        .collect();
    let report = HtmlReport { title: None, runs: &reported, written_realtime_ns: None };
    let begin = Instant::now();
    let path = directory.join(format!("{name}.html"));
    let mut page = BufWriter::new(File::create(&path)?);
    write_html(&report, figures, &mut page)?;
    page.flush()?;
    let took = begin.elapsed();
    for (index, (run, analysis)) in runs.iter().zip(&analyses).enumerate() {
        let mut document = BufWriter::new(File::create(directory.join(format!("{name}-{index}.json")))?);
        write_json(&run.record, analysis.judged(), &mut document)?;
        document.flush()?;
    }
    let bytes = std::fs::metadata(&path)?.len();
    writeln!(io::stdout(), "{}: {bytes} bytes, page written in {took:.3?}", path.display())
}

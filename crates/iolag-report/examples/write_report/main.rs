//! Writes sample reports for the tests of the page, each with the JSON of its runs beside it:
//! `cargo run -p iolag-report --example write_report -- DIRECTORY [SAMPLES]`. SAMPLES adds a report of about so many.

mod made_up;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use iolag_analysis::figure::{Figures, SweepRun, sweep_figures};
use iolag_analysis::{RunAnalysis, analyse_run, analysed};
use iolag_report::{HtmlReport, ReportedRun, write_html, write_json};

use made_up::MadeUp;

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
    let analyse = |run: &MadeUp| {
        let grouping = analysed(&run.record.spec.workload).grouping(&run.record);
        analyse_run(&run.record, &run.summaries(grouping))
    };
    let analyses: Vec<RunAnalysis> = runs.iter().map(analyse).collect();
    let sweep_runs: Vec<SweepRun<'_>> = runs
        .iter()
        .zip(&analyses)
        .filter_map(|(run, analysis)| match analysis {
            RunAnalysis::Metadata(analysis) => Some(SweepRun { record: &run.record, analysis }),
            _ => None,
        })
        .collect();
    let figures = Figures::new(runs.iter().map(MadeUp::figures).collect(), sweep_figures(&sweep_runs));
    let reported: Vec<ReportedRun<'_>> = runs
        .iter()
        .zip(&analyses)
        .map(|(run, analysis)| ReportedRun { record: &run.record, analysis })
        .collect();
    let report = HtmlReport { title: None, runs: &reported, comparison: None, written_realtime_ns: None };
    let begin = Instant::now();
    let path = directory.join(format!("{name}.html"));
    let mut page = BufWriter::new(File::create(&path)?);
    write_html(&report, figures, &mut page)?;
    page.flush()?;
    let took = begin.elapsed();
    for (index, (run, analysis)) in runs.iter().zip(&analyses).enumerate() {
        let mut document = BufWriter::new(File::create(directory.join(format!("{name}-{index}.json")))?);
        write_json(&run.record, analysis, &mut document)?;
        document.flush()?;
    }
    let bytes = std::fs::metadata(&path)?.len();
    writeln!(io::stdout(), "{}: {bytes} bytes, page written in {took:.3?}", path.display())
}

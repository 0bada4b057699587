//! Writes sample pages of histories for the tests of the page, each with its analysis as JSON and its live document beside it:
//! `cargo run -p iolag-report --example write_history -- DIRECTORY [SAMPLES]`. SAMPLES adds a history of about so many.

mod made_up;
mod odd;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use iolag_analysis::history::{
    HistoryInput, HistoryOptions, HistoryPoints, analyse_history, history_figures,
};
use iolag_model::{WallSpan, WallTime};
use iolag_report::{
    HistoryHead, HistoryReport, write_history_document, write_history_html, write_history_json,
    write_live_history_html,
};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let directory = match arguments.next() {
        Some(directory) => PathBuf::from(directory),
        None => std::env::temp_dir().join("iolag-sample-histories"),
    };
    let samples: Option<usize> = arguments.next().and_then(|text| text.to_str()?.parse().ok());
    std::fs::create_dir_all(&directory)?;
    let histories: [(&str, HistoryInput); 9] = [
        ("study", made_up::study()),
        ("hang", made_up::hang()),
        ("watched", made_up::watched(120)),
        ("hostile", odd::hostile()),
        ("nothing", HistoryInput::default()),
        ("one", odd::one_sample()),
        ("all-hung", odd::all_hung()),
        ("values", odd::values_only()),
        ("named", odd::named_targets()),
    ];
    for (name, input) in &histories {
        write_pages(&directory, name, input)?;
    }
    if let Some(samples) = samples {
        write_pages(&directory, "large", &made_up::large(samples))?;
    }
    Ok(())
}

fn write_pages(directory: &Path, name: &str, input: &HistoryInput) -> io::Result<()> {
    let begin = Instant::now();
    let analysis = analyse_history(input, &HistoryOptions::default());
    let analysed = begin.elapsed();
    let head = HistoryHead { place: "/var/lib/iolag/history.sqlite".to_owned(), span: WallSpan::ALL };
    let written = Some(WallTime::from_seconds(1_798_761_600));
    let report = HistoryReport { title: None, head: &head, zone: "UTC", analysis: &analysis, written };
    let figures = history_figures(input, &analysis, HistoryPoints::default());

    let page = directory.join(format!("history-{name}.html"));
    to_file(&page, |writer| write_history_html(&report, figures.clone(), writer))?;
    to_file(&directory.join(format!("history-{name}.json")), |writer| {
        write_history_json(&head, &analysis, writer)
    })?;
    to_file(&directory.join(format!("history-{name}-data.json")), |writer| {
        write_history_document(&report, figures, writer)
    })?;
    to_file(&directory.join(format!("history-{name}-live.html")), |writer| {
        write_live_history_html(None, writer)
    })?;
    writeln!(
        io::stdout(),
        "{}: {} bytes, analysed in {:.1} s, all in {:.1} s",
        page.display(),
        page.metadata()?.len(),
        analysed.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    )
}

fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(File::create(path)?);
    write(&mut writer)?;
    writer.flush()
}

//! What holds for imports of anything: no panic, and what was written comes back.

mod import_support;

use import_support::{import, options, records, samples};
use iolag_model::{HistoryRecord, Nanoseconds};
use iolag_store::import::{
    DecimalMark, HeaderRow, ImportForm, ImportOptions, Separator, TimeFormat, parse_time_zone, read,
};
use proptest::prelude::*;

fn any_options() -> impl Strategy<Value = ImportOptions> {
    (any::<[bool; 6]>(), 0..3_usize, 0..6_usize).prop_map(|(flags, format, separator)| ImportOptions {
        bad_rows_max: if flags[0] { 1_000 } else { 0 },
        time_zone: flags[1]
            .then(|| parse_time_zone("America/Los_Angeles").expect("zone files are installed")),
        year: flags[2].then_some(2008),
        header: if flags[3] { HeaderRow::Absent } else { HeaderRow::Guess },
        values: if flags[4] { vec!["2=list@/home".parse().expect("the form is right")] } else { Vec::new() },
        pattern: flags[5].then(|| "(?<time>[^,; ]+).(?<value>.*)".to_owned()),
        time_format: [None, Some(TimeFormat::Strftime("%Y-%m-%d".into())), Some(TimeFormat::EpochSeconds)]
            [format]
            .clone(),
        separator: Separator::ALL.get(separator).copied(),
        ..options()
    })
}

/// Pieces of which files are made, so that arbitrary ones come near to real ones.
fn any_text() -> impl Strategy<Value = String> {
    const PIECES: [&str; 32] = [
        "time",
        "Series",
        "Value",
        "text",
        "end",
        ",",
        ";",
        "\t",
        " ",
        "\"",
        "\n",
        "\r\n",
        "\n",
        "#",
        "2008-05-08 14:15",
        "05/08/2008",
        "1210204800",
        "Thu May  8 14:15:02 PDT 2008",
        "May  8 14:15:02",
        "2008-11-02 01:30",
        "0.01",
        "0,01",
        "real\t0m1.234s",
        "1:02.3",
        "12 ms",
        "null",
        "-1",
        "{\"__REALTIME_TIMESTAMP\":\"1000000\",\"MESSAGE\":\"nfs: server a OK\"}",
        "sep=;",
        "ä",
        "9999999999999999999",
        "elapsed",
    ];
    proptest::collection::vec(0..PIECES.len(), 0..60)
        .prop_map(|picks| picks.into_iter().map(|pick| PIECES[pick]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_bytes_make_any_form_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), mut options in any_options()) {
        for form in ImportForm::ALL {
            options.form = Some(form);
            let _ = read(bytes.as_slice(), "any", &options);
        }
    }

    #[test]
    fn nothing_near_to_a_file_makes_any_form_panic(text in any_text(), mut options in any_options()) {
        for form in [None].into_iter().chain(ImportForm::ALL.map(Some)) {
            options.form = form;
            if let Ok(import) = read(text.as_bytes(), "any", &options) {
                let _ = import.report.to_string();
                let mut last = None;
                for record in records(&import) {
                    match record {
                        HistoryRecord::Series(_) => last = None,
                        HistoryRecord::Sample(sample) => {
                            prop_assert!(last < Some(sample.probe), "identities ascend within a series");
                            last = Some(sample.probe);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_written_comes_back(
        samples in proptest::collection::btree_map(1_000_000_000_u64..4_000_000_000, (0_u64..1_000_000_000_000, 0_u64..1_000_000), 1..60),
        separator in 0..4_usize,
        comma in any::<bool>(),
    ) {
        let separator = Separator::ALL[separator];
        // Decimal commas between commas need quotes.
        let (mark, point) = if comma { (DecimalMark::Comma, ",") } else { (DecimalMark::Point, ".") };
        let sign = ["\t", ";", ",", "|"][Separator::ALL.iter().position(|other| *other == separator).unwrap()];
        let mut text = ["time", "list", "other"].join(sign) + "\n";
        for (second, (ns, micro)) in &samples {
            let value = format!("\"{}{point}{:09}\"", ns / 1_000_000_000, ns % 1_000_000_000);
            text += &[format!("{second}.{micro:06}"), value, "7".into()].join(sign);
            text += "\n";
        }
        let chosen = ImportOptions { values: vec!["list".parse().unwrap()], decimal_mark: Some(mark), ..options() };
        let imported = import(&text, &chosen);
        let back: Vec<(i64, Nanoseconds)> =
            import_support::samples(&imported.series[0]).iter().map(|sample| (sample.time.0, sample.duration_ns)).collect();
        let written: Vec<(i64, Nanoseconds)> = samples
            .iter()
            .map(|(second, (ns, micro))| ((second * 1_000_000_000 + micro * 1_000) as i64, Nanoseconds(*ns)))
            .collect();
        prop_assert_eq!(back, written);
    }

    #[test]
    fn local_times_come_back_through_a_year_with_its_changes(start in 1_199_174_400_i64..1_230_000_000, step in 60_i64..90_000) {
        let zone = parse_time_zone("America/Los_Angeles").unwrap();
        let moments: Vec<i64> = (0..200).map(|index| start + index * step).collect();
        let local = |seconds: &i64| {
            let civil = zone.to_datetime(jiff::Timestamp::from_second(*seconds).unwrap());
            format!("{} 0.01\n", civil.strftime("%Y-%m-%d %H:%M:%S"))
        };
        let text: String = moments.iter().map(local).collect();
        let imported = import(&text, &ImportOptions { time_zone: Some(zone.clone()), ..options() });
        let back: Vec<i64> = samples(&imported.series[0]).iter().map(|sample| sample.time.0 / 1_000_000_000).collect();
        prop_assert!(back.iter().zip(&moments).all(|(back, moment)| back == moment || moment - back == 3_600));
        // Only a series that skips the first half of the repeated hours, 08:00 to 10:00 UTC of November 2, leaves no trace of the second.
        if step < 3_600 && !(1_225_612_800..1_225_620_000).contains(&start) {
            prop_assert_eq!(back, moments);
        }
    }
}

//! Samples of a newer minor version, with operations that this iolag does not know: counted and told, never dropped in silence.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use serde_json::json;

use crate::user::User;

/// Writes a part as a newer iolag would: the columns of `like`, a row per operation number.
fn write_part(like: &Path, to: &Path, operations: &[i32]) {
    let known = SerializedFileReader::new(File::open(like).unwrap()).unwrap();
    let file = known.metadata().file_metadata();
    let properties = WriterProperties::builder();
    let kept = file.key_value_metadata().unwrap().iter().filter(|pair| pair.key != "iolag.chunk_crc32");
    let properties = properties.set_key_value_metadata(Some(kept.cloned().collect())).build();
    let schema = file.schema_descr().root_schema_ptr();
    let mut writer =
        SerializedFileWriter::new(File::create(to).unwrap(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for place in 0.. {
        let Some(mut column) = group.next_column().unwrap() else { break };
        let name = file.schema_descr().column(place).name().to_owned();
        let rows = operations.len();
        let is_text = ["operation", "outcome", "phase"].contains(&name.as_str());
        let is_long = ["attempt", "intended_ns", "start_ns", "duration_ns", "bytes"].contains(&name.as_str());
        if is_text {
            column
                .typed::<ByteArrayType>()
                .write_batch(&vec![ByteArray::from("new"); rows], None, None)
                .unwrap();
        } else if is_long {
            let values: Vec<i64> = (0..rows as i64).map(|row| row + (1 << 30)).collect();
            column.typed::<Int64Type>().write_batch(&values, None, None).unwrap();
        } else {
            let values = if name == "operation_code" { operations.to_vec() } else { vec![0; rows] };
            column.typed::<Int32Type>().write_batch(&values, None, None).unwrap();
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

const TOLD: &str =
    "3 samples of 2 operations that this iolag does not know (numbers 250, 251) are in no table";

/// Makes the user's only run one of a newer minor version with such samples. Returns the number of those that are known.
fn add_unknown_samples(user: &User) -> u64 {
    let mut record = user.record();
    let run = user.store().join("runs").join(record["id"].as_str().unwrap());
    let like = record["parts"][0]["file"].as_str().unwrap();
    write_part(&run.join(like), &run.join("samples-9-9.parquet"), &[250, 250, 251]);
    let known =
        record["parts"].as_array().unwrap().iter().map(|part| part["samples"].as_u64().unwrap()).sum();
    let major = record["format"].as_str().unwrap().split('.').next().unwrap();
    record["format"] = format!("{major}.9").into();
    record["parts"].as_array_mut().unwrap().push(json!({ "file": "samples-9-9.parquet", "samples": 3 }));
    std::fs::write(run.join("run.json"), record.to_string()).unwrap();
    known
}

fn is_doubted(user: &User) -> bool {
    let document = user.document("last");
    document["trust"].as_array().unwrap().iter().any(|trust| trust["doubt"] == TOLD)
}

#[test]
fn a_ping_and_a_check_with_unknown_operations_say_so() {
    for arguments in
        [&["ping", "--deadline", "1h", "-n", "1"][..], &["check", "--deadline", "1h", "--budget", "4s"]]
    {
        let user = User::new();
        let directory = user.directory("scratch");
        let said = user.iolag(&[arguments, &[&directory, "-q"]].concat());
        // On a busy machine a check may find fault with the directory, or run out of its budget.
        assert!(matches!(said.code, 0 | 1 | 4), "{said:?}");
        add_unknown_samples(&user);
        let shown = user.iolag(&["show"]).output.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(TOLD), "{arguments:?}: {shown}");
        assert!(is_doubted(&user), "{arguments:?}");
    }
}

#[test]
fn samples_of_unknown_operations_are_told_wherever_tables_are() {
    let user = User::new();
    user.fine(&["bench", "metadata", "memory:", "-D", "1", "-P", "10", "-I", "5", "-R", "1", "-q"]);
    let known = add_unknown_samples(&user);

    let shown = user.fine(&["show"]).output.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(TOLD) && shown.contains("Before you trust the numbers"), "{shown}");
    assert!(is_doubted(&user));
    for form in ["csv", "md-workbench"] {
        let said = user.iolag(&["show", "--format", form]);
        assert!(said.code == 0 && said.errors.contains(TOLD), "{form}: {said:?}");
        assert!(!said.output.contains(TOLD));
    }
    user.fine(&["report", "-o", "report.html"]);
    let page = std::fs::read_to_string(user.path("report.html")).unwrap();
    assert!(page.contains(TOLD));
    let said = user.iolag(&["plot", "ecdf", "-o", "ecdf.svg"]);
    assert!(said.code == 0 && said.errors.contains("3 samples that this iolag does not know"), "{said:?}");
    assert!(user.fine(&["list"]).output.contains(&(known + 3).to_string()), "list shows all samples");
    let said = user.iolag(&["export"]);
    assert!(said.code == 3 && said.errors.contains("operation 250"), "{said:?}");
}

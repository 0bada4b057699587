//! `iolag compare`: what it shows of runs that were made for it, and what it says to what cannot be compared.
//!
//! Nothing here depends on how long an operation takes, but on that 4 ms are longer than 2, and both longer than memory takes.

mod beside;
mod outputs;
mod refused;
mod sides;

use serde_json::Value;

use crate::user::{User, text};

const FAST: &str = "delayed:2ms:memory:";
const SLOW: &str = "delayed:4ms:memory:";
/// So slow that a busy machine changes neither that it is slower, nor by how much.
const FORTY: &str = "delayed:40ms:memory:";
const EIGHTY: &str = "delayed:80ms:memory:";

/// Short runs on these targets, in one campaign.
fn bench(user: &User, targets: &[&str], more: &[&str]) {
    let mut arguments = vec!["bench", "metadata"];
    arguments.extend(targets);
    arguments.extend(["-D", "1", "-P", "10", "-I", "5", "-R", "1", "-q"]);
    arguments.extend(more);
    let said = user.iolag(&arguments);
    assert!([0, 4].contains(&said.code), "{arguments:?}: {said:?}");
}

/// The ids of all runs, oldest first.
fn ids(user: &User) -> Vec<String> {
    let list: Value = serde_json::from_str(&user.fine(&["list", "--json", "-"]).output).unwrap();
    list.as_array().unwrap().iter().map(|run| text(run, "id").to_owned()).collect()
}

/// A comparison as a document.
fn compared(user: &User, arguments: &[&str]) -> Value {
    let said = user.fine(&[&["compare"], arguments, &["--json", "-"]].concat());
    serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

fn rows(document: &Value) -> &[Value] {
    document["rows"].as_array().unwrap()
}

/// What is said of the first of the others in each row.
fn words(document: &Value) -> Vec<&str> {
    rows(document).iter().map(|row| text(&row["cells"][0], "word")).collect()
}

fn operations(document: &Value) -> Vec<&str> {
    rows(document).iter().map(|row| text(row, "operation")).collect()
}

//! What older versions wrote: copies for a test to work on, and the tables of known answers that lie beside it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The median stands last in a table, the number of samples between what tells them apart and what is summed.
const SAMPLES: &str = "samples";

/// Something that 0.1.0 wrote. It is never written to: reading a run may recover it, opening a history may migrate it.
pub fn written_by_0_1_0(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written_by_0_1_0").join(name)
}

/// A copy of a file, or of a directory and everything in it, that nobody else may write to, as iolag would have made it.
pub fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        fs::set_permissions(to, fs::Permissions::from_mode(0o700)).unwrap();
        for entry in fs::read_dir(from).unwrap().flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
        fs::set_permissions(to, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// A table of known answers, and what its header says.
pub struct KnownAnswers {
    pub text: String,
    keys: Vec<String>,
    sums: Vec<String>,
}

impl KnownAnswers {
    pub fn of_0_1_0(name: &str) -> Self {
        let text = fs::read_to_string(written_by_0_1_0(name)).unwrap();
        let header: Vec<String> = text.lines().next().unwrap().split('\t').map(str::to_owned).collect();
        let at = header.iter().position(|column| column == SAMPLES).unwrap();
        let (keys, sums) = (header[..at].to_vec(), header[at + 1..header.len() - 1].to_vec());
        Self { text, keys, sums }
    }

    /// The lines, each by the names of its columns.
    pub fn lines(&self) -> Vec<BTreeMap<&str, &str>> {
        let mut lines = self.text.lines().map(|line| line.split('\t'));
        let header: Vec<&str> = lines.next().unwrap().collect();
        lines.map(|fields| header.iter().copied().zip(fields).collect()).collect()
    }

    /// The same table, made from samples as a program told them. Members that are not in the table do not matter.
    pub fn table_of(&self, samples: &[Value]) -> String {
        let mut groups: BTreeMap<Vec<String>, Vec<&Value>> = BTreeMap::new();
        for sample in samples {
            let key = self.keys.iter().map(|name| written(&sample[name])).collect();
            groups.entry(key).or_default().push(sample);
        }
        let median = "median_ns".to_owned();
        let header = [&self.keys[..], &[SAMPLES.to_owned()], &self.sums, &[median]].concat().join("\t");
        let lines = groups.into_iter().map(|(key, samples)| {
            let sum =
                |name: &String| samples.iter().map(|sample| number(&sample[name])).sum::<i128>().to_string();
            let mut durations: Vec<i128> =
                samples.iter().map(|sample| number(&sample["duration_ns"])).collect();
            durations.sort_unstable();
            let median = durations[(durations.len() - 1) / 2].to_string();
            let sums = self.sums.iter().map(sum);
            key.into_iter()
                .chain([samples.len().to_string()])
                .chain(sums)
                .chain([median])
                .collect::<Vec<_>>()
                .join("\t")
        });
        [header].into_iter().chain(lines).map(|line| line + "\n").collect()
    }
}

/// A text or a number, as a table has it.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn number(value: &Value) -> i128 {
    written(value).parse().unwrap_or_else(|_| panic!("{value} is no whole number"))
}

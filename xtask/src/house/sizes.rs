//! How much is in one folder and in one file.

use std::collections::BTreeMap;
use std::path::Path;

use super::exceptions::{Excess, Rule};

/// Files of Rust or TypeScript that are in one folder itself. Other files (snapshots, data, pictures) and what is in the folders within it
/// do not count.
const FOLDER_FILES_MAX: usize = 15;
const FILE_LINES_MAX: usize = 500;

/// The folders of `files` that hold too many of them.
pub fn full_folders<'a>(files: impl Iterator<Item = &'a Path>) -> Vec<Excess> {
    let mut folders: BTreeMap<&Path, usize> = BTreeMap::new();
    for folder in files.filter_map(Path::parent) {
        *folders.entry(folder).or_default() += 1;
    }
    let full = folders.into_iter().filter(|(_, files)| *files > FOLDER_FILES_MAX);
    full.map(|(folder, files)| {
        let words = format!(
            "{files} files of source in one folder, more than {FOLDER_FILES_MAX}: which ideas are in it?"
        );
        Excess::new(Rule::Folder, files, folder, words)
    })
    .collect()
}

/// `file`, if it is too long.
pub fn long_file(file: &Path, text: &str) -> Option<Excess> {
    let lines = text.lines().count();
    let words = format!("{lines} lines, more than {FILE_LINES_MAX}: is it still one idea?");
    (lines > FILE_LINES_MAX).then(|| Excess::new(Rule::File, lines, file, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_fifteen_files() {
        let mut files: Vec<String> = (0..15).map(|number| format!("src/a/f{number}.rs")).collect();
        files.extend((0..15).map(|number| format!("src/a/b/f{number}.ts")));
        let full = |files: &[String]| full_folders(files.iter().map(Path::new));
        assert!(full(&files).is_empty());
        files.push("src/a/g.ts".to_owned());
        let full = full(&files);
        assert_eq!(full.len(), 1);
        assert_eq!(full[0].line(), "folder src/a 16");
    }

    #[test]
    fn a_file_holds_500_lines() {
        assert_eq!(long_file(Path::new("src/a.rs"), &"\n".repeat(500)), None);
        let long = long_file(Path::new("src/a.rs"), &"\n".repeat(501)).unwrap();
        assert_eq!(long.line(), "file src/a.rs 501");
    }
}

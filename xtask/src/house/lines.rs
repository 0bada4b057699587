//! What the name of a Rust file and its lines must not hold.

use std::path::Path;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 6] = ["util", "utils", "common", "manager", "helper", "helpers"];

/// What is wrong with one file, each with its place.
pub fn faults_in(name: &Path, text: &str) -> Vec<String> {
    let place = name.display();
    let mut faults = Vec::new();
    let stem = name.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
    if stem.split('_').any(|word| EMPTY_NAMES.contains(&word)) {
        faults.push(format!("{place}: the name says nothing about what is inside"));
    }
    let (unfinished, unwrap) = (unfinished_marks(), [".unwrap", "()"].concat());
    let is_test_file = stem == "tests" || name.components().any(|part| part.as_os_str() == "tests");
    let mut in_tests = is_test_file;
    for (number, line) in (1..).zip(text.lines()) {
        in_tests |= line.trim_start().starts_with("#[cfg(test)]");
        if !in_tests && line.contains(&unwrap) && !line.trim_start().starts_with("//") {
            faults.push(format!("{place}:{number}: unwrap outside tests: name the invariant with expect"));
        }
        for mark in unfinished.iter().filter(|mark| line.contains(mark.as_str())) {
            faults.push(format!("{place}:{number}: unfinished or switched off: {mark}"));
        }
    }
    faults.extend(examples_in_documentation(text).map(|number| {
        format!("{place}:{number}: an example that nobody runs: name its language (text, sh, toml), or make it a test")
    }));
    faults
}

/// Lines that begin a block of Rust in a documentation comment: `cargo xtask test` runs tests by name, and those have none.
fn examples_in_documentation(text: &str) -> impl Iterator<Item = usize> {
    let mut is_open = false;
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let comment = line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!', ' ']);
        let language = comment.strip_prefix("```")?;
        is_open = !is_open;
        let is_rust = language
            .split(',')
            .any(|word| matches!(word, "" | "rust" | "no_run" | "should_panic" | "compile_fail"));
        (is_open && is_rust).then_some(number)
    })
}

/// Put together here, so that this file does not hold them.
fn unfinished_marks() -> [String; 6] {
    [("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("todo", "!("), ("unimplemented", "!("), ("#[igno", "re")]
        .map(|(head, tail)| format!("{head}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(name: &str, text: &str) -> Vec<String> {
        faults_in(Path::new(name), text)
    }

    #[test]
    fn unwrap_is_for_tests() {
        let text =
            "fn f() {\n    g().unwrap();\n}\n#[cfg(test)]\nmod tests {\n    fn t() { g().unwrap(); }\n}\n";
        assert_eq!(
            faults("crates/a/src/lib.rs", text),
            ["crates/a/src/lib.rs:2: unwrap outside tests: name the invariant with expect"]
        );
        assert!(faults("crates/a/tests/all.rs", text).is_empty());
        assert!(faults("crates/a/src/b/tests.rs", text).is_empty());
    }

    #[test]
    fn examples_in_documentation_are_for_reading() {
        assert!(faults("src/a.rs", "//! ```text\n//! a -> b\n//! ```\n").is_empty());
        let faults = faults("src/a.rs", "//! ```text\n//! ```\n/// ```\n/// f();\n/// ```\nfn f() {}\n");
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("src/a.rs:3: an example that nobody runs"), "{faults:?}");
    }

    #[test]
    fn unfinished_places_and_empty_names_are_found() {
        for mark in unfinished_marks() {
            assert_eq!(faults("src/a.rs", &format!("// {mark}\n")).len(), 1, "{mark}");
        }
        assert_eq!(faults("src/string_utils.rs", "").len(), 1);
        assert!(faults("src/utility.rs", "").is_empty());
    }
}

//! What kind of file it is, told by its beginning.

use super::table::{guess_separator, told_separator};
use crate::import::options::file_options::{ImportForm, Separator};
use crate::import::options::import_options::ImportOptions;
use crate::import::times::time_text::read_time;

/// Whether a file that begins like this is an export of an iolag history: records as JSON, one to a line. Such are merged, not imported.
pub fn is_history_export(beginning: &[u8]) -> bool {
    let start = beginning.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    beginning[start..].starts_with(b"{\"record\":")
}

/// The form of a file that begins like this.
pub(crate) fn guess_form(beginning: &str, options: &ImportOptions) -> ImportForm {
    if options.pattern.is_some() {
        return ImportForm::Pattern;
    }
    let mut lines = beginning.lines().map(str::trim).filter(|line| {
        !line.is_empty()
            && !options.comment.is_some_and(|mark| line.starts_with(mark))
            && !line.starts_with("sep=")
    });
    let first = lines.next().unwrap_or("");
    if first.starts_with('{') && (first.contains("\"__REALTIME_TIMESTAMP\"") || first.contains("\"MESSAGE\""))
    {
        return ImportForm::Journal;
    }
    let (_, table) = told_separator(beginning);
    let separator = options.separator.unwrap_or_else(|| guess_separator(table, options.comment));
    let names = header_names(first, separator);
    let has = |wanted: &str| names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
    let names_columns = !options.values.is_empty() || !options.time.is_empty();
    if has("series") && has("time") && has("value") {
        return ImportForm::Grafana;
    }
    if !names_columns && (has("text") || has("event") || has("message")) {
        return ImportForm::EventList;
    }
    // Grafana quotes its header and begins it with Time; what others write is asked about, column by column.
    let is_grafana = first.trim_start_matches('\u{feff}').starts_with("\"Time\"");
    if is_grafana && options.values.is_empty() {
        return ImportForm::Grafana;
    }
    match separator {
        Separator::Spaces if !is_table(&names, options) => ImportForm::Text,
        // A date with a comma in it, or a value behind one, is no table yet.
        _ => ImportForm::Separated,
    }
}

fn header_names(first: &str, separator: Separator) -> Vec<&str> {
    match separator.byte() {
        Some(mark) => first.split(char::from(mark)).map(|name| name.trim().trim_matches('"')).collect(),
        None => first.split_whitespace().map(|name| name.trim_matches('"')).collect(),
    }
}

/// Whether a file with spaces between words has columns: its first line names the ones that options name.
fn is_table(names: &[&str], options: &ImportOptions) -> bool {
    let declared = options.time.iter().chain(options.values.iter().map(|value| &value.column));
    let named = declared.filter(|name| name.number().is_none()).any(|name| names.contains(&name.0.as_str()));
    let numbered_time = !options.time.is_empty() && options.time.iter().all(|name| name.number().is_some());
    let begins_with_name = ["time", "timestamp", "date"]
        .iter()
        .any(|wanted| names.first().is_some_and(|name| name.eq_ignore_ascii_case(wanted)));
    named || numbered_time || (begins_with_name && read_time(names[0]).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_the_beginning() {
        let options = ImportOptions::new("host");
        for (text, form) in [
            ("time,real\n1210204800,0.01\n", ImportForm::Separated),
            ("\"Time\",\"home ls -l\",\"scratch ls -l\"\n", ImportForm::Grafana),
            ("sep=;\n\"Series\";\"Time\";\"Value\"\n", ImportForm::Grafana),
            ("1210204800 0.01\n1210205700 0.00\n", ImportForm::Text),
            ("Thu May  8 14:15:02 PDT 2008\nreal 0m1.234s\n", ImportForm::Text),
            ("time value\n1210204800 0.01\n", ImportForm::Separated),
            ("time,text\n2008-05-08,LDAP cache\n", ImportForm::EventList),
            ("{\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":\"x\"}\n", ImportForm::Journal),
            ("", ImportForm::Text),
        ] {
            assert_eq!(guess_form(text, &options), form, "{text}");
        }
        let values = ImportOptions { values: vec!["text=list".parse().unwrap()], ..options };
        assert_eq!(guess_form("time,text\n", &values), ImportForm::Separated);
        assert!(
            is_history_export(b"\n{\"record\":\"sample\"")
                && !is_history_export(b"{\"a\":1}")
                && !is_history_export(b"")
        );
    }
}

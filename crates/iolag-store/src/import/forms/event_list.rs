//! Lists of events, and the identities of imported events.

use iolag_model::{Event, EventSource, WallTime};

use super::table::{Row, Table};
use crate::import::error::{ImportError, Tolerance, cleaned, shortened};
use crate::import::fingerprint::{FNV_OFFSET, fnv1a};
use crate::import::options::file_options::{ColumnName, Separator};
use crate::import::options::import_options::ImportOptions;
use crate::import::rows::RawRows;
use crate::import::source::Text;
use crate::import::times::column::{ResolvedTimes, resolve_times};
use crate::import::times::time_text::read_time;

/// Longest text of an event, in characters.
pub(crate) const TEXT_CHARACTERS_MAX: usize = 2_000;

/// Names that columns of a list may have, by meaning.
const TIME: [&str; 6] = ["time", "begin", "start", "date", "from", "timestamp"];
const END: [&str; 4] = ["end", "until", "to", "stop"];
const TEXT: [&str; 6] = ["text", "event", "message", "title", "description", "what"];
const KIND: [&str; 3] = ["kind", "type", "category"];
const TARGET: [&str; 2] = ["target", "file system"];
const LINK: [&str; 3] = ["link", "url", "ticket"];
const HOST: [&str; 2] = ["host", "node"];
const AUTHOR: [&str; 3] = ["author", "by", "who"];

/// What a list of events gives.
pub(crate) struct EventList {
    pub events: Vec<Event>,
    pub rows: RawRows,
    pub separator: Separator,
    pub resolved: ResolvedTimes,
}

/// Reads a list with the columns time, end, text, kind, target, link, host and author; without a header: time, text and kind.
///
/// # Errors
/// If there is no column with a time or a text, or too many rows are bad.
pub(crate) fn read_event_list(
    text: &Text,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
) -> Result<EventList, ImportError> {
    let table = Table::read(text, tolerance.file(), options, |first| read_time(first.cell(0)).is_none())?;
    let columns = Columns::of(&table, options, tolerance.file())?;
    let mut rows = RawRows::of_lines(table.lines, table.ignored, &options.directory);
    // Ends are guessed together with begins: both are written by one hand.
    let mut entries = Vec::new();
    let (mut listed, mut row) = (table.rows(), Row::default());
    while listed.read(&mut row)? {
        let begin = row.joined(&columns.time);
        if begin.is_empty() || columns.cell(&row, columns.text).is_empty() {
            tolerance.leave_out(row.line, &row.shown(), "an event needs a time and a text")?;
            continue;
        }
        let begin = rows.add_time(row.line, &begin, 0)?;
        let end = match columns.cell(&row, columns.end) {
            "" | "-" => None,
            end => Some(rows.add_time(row.line, end, 1)?),
        };
        entries.push((row.clone(), begin, end));
    }
    let resolved = resolve_times(&rows, options, tolerance)?;
    let mut events = Vec::with_capacity(entries.len());
    let mut times = resolved.times.reader();
    for (row, begin, end) in entries {
        let (begin, end) = (times.at(begin)?.time, end.map(|end| times.at(end)).transpose()?);
        let (Some(begin), end) = (begin, end.map(|end| end.time)) else { continue };
        if end.is_some_and(|end| end.is_none_or(|end| end < begin)) {
            if end.flatten().is_some() {
                tolerance.leave_out(row.line, &row.shown(), "this event ends before it begins")?;
            }
            continue;
        }
        match columns.event(&row, begin, end.flatten(), options) {
            Ok(event) => events.push(event),
            Err(what) => tolerance.leave_out(row.line, &row.shown(), what)?,
        }
    }
    sort(&mut events);
    Ok(EventList { events, rows, separator: table.separator, resolved })
}

/// Puts events into the order of time, those of one moment too into an order that is always the same.
pub(crate) fn sort(events: &mut [Event]) {
    events.sort_by(|left, right| (left.begin, left.end, &left.id).cmp(&(right.begin, right.end, &right.id)));
}

struct Columns {
    time: Vec<usize>,
    end: Option<usize>,
    text: Option<usize>,
    kind: Option<usize>,
    target: Option<usize>,
    link: Option<usize>,
    host: Option<usize>,
    author: Option<usize>,
}

impl Columns {
    fn of(table: &Table<'_>, options: &ImportOptions, file: &str) -> Result<Self, ImportError> {
        let named = |names: &[&str]| {
            names.iter().find_map(|name| {
                let mut columns = table.names();
                columns.find(|(_, column)| column.eq_ignore_ascii_case(name)).map(|(index, _)| index)
            })
        };
        let mut columns = Self {
            time: Vec::new(),
            end: named(&END),
            text: named(&TEXT),
            kind: named(&KIND),
            target: named(&TARGET),
            link: named(&LINK),
            host: named(&HOST),
            author: named(&AUTHOR),
        };
        for name in &options.time {
            columns.time.push(table.column(name, file)?);
        }
        if columns.time.is_empty() {
            columns.time.push(named(&TIME).unwrap_or(0));
        }
        if table.header.is_none() {
            (columns.text, columns.kind) = (Some(1), Some(2));
        }
        if let Some(target) = &options.target_column {
            columns.target = Some(table.column(target, file)?);
        }
        if columns.text.is_none() {
            // The message says which columns there are.
            table.column(&ColumnName("text".to_owned()), file)?;
        }
        Ok(columns)
    }

    fn cell<'row>(&self, row: &'row Row, column: Option<usize>) -> &'row str {
        column.map_or("", |column| row.cell(column))
    }

    fn event(
        &self,
        row: &Row,
        begin: WallTime,
        end: Option<WallTime>,
        options: &ImportOptions,
    ) -> Result<Event, String> {
        let cell = |column, otherwise: &str| match self.cell(row, column) {
            "" => otherwise.to_owned(),
            text => cleaned(text.chars().take(TEXT_CHARACTERS_MAX)),
        };
        let link = Some(cell(self.link, "")).filter(|link| !link.is_empty());
        if let Some(link) = link.as_deref().filter(|link| !is_harmless_link(link)) {
            return Err(format!(
                "{:?} is no link, expected https:// and a page, or a ticket",
                shortened(link)
            ));
        }
        Ok(with_identity(Event {
            end,
            host: cell(self.host, ""),
            target: cell(self.target, &options.target),
            kind: cell(self.kind, ""),
            text: cell(self.text, ""),
            link,
            author: cell(self.author, &options.author),
            ..Event::of_all(EventSource::List, begin)
        }))
    }
}

/// Whether a browser may be given this link: pages show it to be followed.
fn is_harmless_link(link: &str) -> bool {
    let scheme = link.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme {
        // Tickets such as `RT#1234`, `INC-7`, paths.
        None => true,
        Some(scheme) => matches!(scheme.as_str(), "http" | "https" | "mailto"),
    }
}

/// Gives an event the hash of what it is about: when, where, and what it says. Its end, kind and link may be known better later.
pub(crate) fn with_identity(mut event: Event) -> Event {
    let begin = event.begin.0.to_le_bytes();
    let parts = [&begin[..], event.host.as_bytes(), event.target.as_bytes(), event.text.as_bytes()];
    let mut hash = FNV_OFFSET;
    for part in parts {
        // The length keeps parts apart.
        hash = fnv1a(fnv1a(hash, &(part.len() as u64).to_le_bytes()), part);
    }
    event.id = format!("{hash:032x}");
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_links_are_kept() {
        for link in ["https://tickets.example/7", "mailto:ops@example.org", "RT#1234", "INC-7", "wiki/ldap"] {
            assert!(is_harmless_link(link), "{link}");
        }
        for link in
            ["javascript:alert(1)", "JavaScript:x", "data:text/html,x", "file:///etc/passwd", " javascript:x"]
        {
            assert!(!is_harmless_link(link), "{link}");
        }
    }
}

//! Copies between targets: a row for each from where, a column for each to where.

use crate::text::table::{Cell, ColumnGroup, Side, Table, columns};
use crate::words::numbers::{NOTHING, throughput};

/// Copies from one target to another, which may be the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Copied<'a> {
    /// From where.
    pub from: &'a str,
    /// To where.
    pub to: &'a str,
    /// Bytes of them by the time of the phase.
    pub bytes_per_second: f64,
    /// Whether nothing was moved.
    pub kind: CopyKind,
}

/// What a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyKind {
    /// Bytes that were moved, as far as anybody knows.
    Moved,
    /// Blocks that both files share.
    Clone,
}

/// What copies between targets came to, in words.
pub(crate) struct CopyMatrix {
    /// Of what.
    pub(crate) of: String,
    /// To where, in the order of the columns.
    pub(crate) to: Vec<String>,
    /// From where, and the median for each column.
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

impl CopyMatrix {
    /// What stands above all of them.
    pub(crate) const HEADING: &str = "Copied between the targets";
    /// What the numbers are.
    pub(crate) const UNIT: &str = "bytes per second (the median where there are several)";

    pub(super) fn new(of: String, copies: &[Copied<'_>]) -> Self {
        let (from, to) =
            (in_order(copies.iter().map(|one| one.from)), in_order(copies.iter().map(|one| one.to)));
        let of_pair = |from: &str, to: &str| {
            let own = copies.iter().filter(|one| (one.from, one.to) == (from, to));
            in_words(&own.collect::<Vec<_>>())
        };
        let row = |from: &str| (from.to_owned(), to.iter().map(|to| of_pair(from, to)).collect());
        let rows = from.into_iter().map(row).collect();
        Self { of, rows, to: to.into_iter().map(str::to_owned).collect() }
    }

    pub(super) fn table(&self) -> Table {
        let mut names = columns([("  from", Side::Left)]);
        names.extend(self.to.iter().map(|to| (format!("to {to}").into(), Side::Right)));
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
        for (from, cells) in &self.rows {
            let first = Cell::new(format!("  {from}"));
            table.row(std::iter::once(first).chain(cells.iter().map(Cell::new)).collect());
        }
        table
    }
}

fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

/// `781 MiB/s`, and whether that moved anything.
fn in_words(copies: &[&Copied<'_>]) -> String {
    let mut rates: Vec<f64> = copies.iter().map(|one| one.bytes_per_second).collect();
    rates.sort_by(f64::total_cmp);
    let Some(middle) = rates.get(rates.len() / 2) else { return NOTHING.to_owned() };
    let median = rates[(rates.len() - 1) / 2].midpoint(*middle);
    let is_clone = copies.iter().any(|one| one.kind == CopyKind::Clone);
    format!("{}{}", throughput(median), if is_clone { " (clone)" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::table::Colour;

    #[test]
    fn each_pair_has_the_median_of_its_copies_and_a_clone_is_called_one() {
        let copied = |from, to, mebibytes: f64, kind| Copied {
            from,
            to,
            bytes_per_second: mebibytes * 1_048_576.0,
            kind,
        };
        let copies = [
            copied("/b", "/b", 64_000.0, CopyKind::Clone),
            copied("/b", "/a", 100.0, CopyKind::Moved),
            copied("/b", "/a", 300.0, CopyKind::Moved),
            copied("/a", "/b", 7.0, CopyKind::Moved),
        ];
        let text = CopyMatrix::new(String::new(), &copies).table().render(Colour::Never);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["from", "to", "/b", "to", "/a"]);
        assert_eq!(lines[1], ["/b", "62.5", "GiB/s", "(clone)", "200", "MiB/s"]);
        assert_eq!(lines[2], ["/a", "7.00", "MiB/s", "–"]);
    }
}

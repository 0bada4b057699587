//! Correlations as the two tables of study 000: what is slow together in one place, and the same task in two places; with its
//! words strong, medium and small.

use iolag_analysis::history::{CorrelatedPair, CorrelationMethod, Quantity, Strength, Variable};
use iolag_model::{SeriesKey, format_count};

use super::page::Page;
use crate::text::table::{Cell, ColumnGroup, Side, Table, Tone, columns};
use crate::words::names::{Names, task};
use crate::words::numbers::NOTHING;

/// Pairs that belong into neither table are told only if they go together, and no more than these.
const OTHERS_MOST: usize = 20;

/// Into which table a pair belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In one place.
    Together(SeriesKey),
    /// The same task in two places.
    Twice,
    /// Different tasks in different places.
    Elsewhere,
}

impl Page<'_> {
    pub(super) fn correlations_text(&self) -> String {
        let pairs = &self.analysis.correlations.pairs;
        if pairs.is_empty() {
            return String::new();
        }
        let (mut together, mut twice, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
        for pair in pairs.iter().filter(|pair| is_told(pair)) {
            match place_of(pair) {
                Place::Together(place) => together.push((self.names.place(&place), pair)),
                Place::Twice => twice.push(pair),
                Place::Elsewhere => elsewhere.push(pair),
            }
        }
        let how = match self.analysis.correlations.options.method {
            CorrelationMethod::Spearman => "Spearman's coefficient, of ranks",
            CorrelationMethod::Pearson => "Pearson's coefficient, of values as recorded",
            CorrelationMethod::PearsonLog => "Pearson's coefficient, of logarithms",
        };
        let explanation = format!(
            "{how}, at the same time and beyond the daily cycle; of the latter, above 0.5 strong, 0.3 medium, 0.1 small; p corrected for \
                 the number of pairs"
        );
        let mut text = String::new();
        together.sort_by(|one, other| (&one.0, rank(one.1)).cmp(&(&other.0, rank(other.1))));
        if !together.is_empty() {
            text.push_str(&self.heading("What is slow together in one place", &explanation));
            text.push_str(&self.together_table(&together));
        }
        if !twice.is_empty() {
            text.push_str(&self.heading("The same task in two places", &explanation));
            let mut table = new_table();
            twice.iter().for_each(|pair| {
                table
                    .row(row(format!("{}: {}", task(&pair.left.series), two_places(&self.names, pair)), pair))
            });
            text.push_str(&table.render(self.colour));
        }
        elsewhere.retain(|pair| pair.is_significant && pair.judged().strength > Strength::None);
        elsewhere.sort_by(|one, other| {
            other.judged().coefficient.abs().total_cmp(&one.judged().coefficient.abs())
        });
        if !elsewhere.is_empty() {
            text.push_str(&self.heading("Other pairs that go together", ""));
            let mut table = new_table();
            for pair in elsewhere.iter().take(OTHERS_MOST) {
                let name = format!(
                    "{} & {}",
                    self.names.series(&pair.left.series),
                    self.names.series(&pair.right.series)
                );
                table.row(row(name, pair));
            }
            text.push_str(&table.render(self.colour));
        }
        text
    }

    fn together_table(&self, pairs: &[(String, &CorrelatedPair)]) -> String {
        let mut table = new_table();
        let mut previous = None;
        for (place, pair) in pairs {
            if previous != Some(place) {
                table.section(place);
                previous = Some(place);
            }
            let [one, other] = sides(pair);
            table.row(row(format!("{} & {}", side(one), side(other)), pair));
        }
        table.render(self.colour)
    }
}

/// `/home & /scratch`, or of one target `/home, n1 & n2`.
pub(crate) fn two_places(names: &Names, pair: &CorrelatedPair) -> String {
    let (left, right) = (&pair.left.series, &pair.right.series);
    let hosts = || format!("{} & {}", left.host, right.host);
    match (left.target == right.target, left.target.as_str()) {
        (true, "") => hosts(),
        (true, target) => format!("{target}, {}", hosts()),
        (false, _) => format!("{} & {}", names.place(left), names.place(right)),
    }
}

/// Of the host's quantities, load is always told, as in the study; the others if they matter.
pub(crate) fn is_told(pair: &CorrelatedPair) -> bool {
    !pair.right.quantity.is_of_host()
        || pair.right.quantity == Quantity::Load5min
        || (pair.is_significant && pair.judged().strength > Strength::None)
}

pub(crate) fn place_of(pair: &CorrelatedPair) -> Place {
    let (left, right) = (&pair.left.series, &pair.right.series);
    if left.host == right.host {
        match (left.target.as_str(), right.target.as_str()) {
            (one, other) if one == other => return Place::Together(left.clone()),
            // What belongs to the host alone stands with whatever it is compared with.
            ("", _) => return Place::Together(right.clone()),
            (_, "") => return Place::Together(left.clone()),
            _ => {}
        }
    }
    if (&left.task, &left.part) == (&right.task, &right.part) { Place::Twice } else { Place::Elsewhere }
}

/// Tasks before what only belongs to their host.
pub(crate) fn rank(pair: &CorrelatedPair) -> u8 {
    match (pair.right.quantity.is_of_host(), pair.left.series.is_of_host()) {
        (false, false) => 0,
        (false, true) => 1,
        (true, _) => 2,
    }
}

/// What belongs to the host alone comes second, as in the study: `create & load average`.
pub(crate) fn sides(pair: &CorrelatedPair) -> [&Variable; 2] {
    if pair.left.series.is_of_host() { [&pair.right, &pair.left] } else { [&pair.left, &pair.right] }
}

pub(crate) fn side(variable: &Variable) -> String {
    match variable.quantity {
        Quantity::Duration | Quantity::Value | Quantity::Rate | Quantity::RunMedian => task(&variable.series),
        other => other.to_string(),
    }
}

fn new_table() -> Table {
    let right = Side::Right;
    let names = columns([
        ("pair", Side::Left),
        ("coefficient", right),
        ("beyond", right),
        ("is", Side::Left),
        ("p", right),
        ("pairs", right),
    ]);
    Table::new(vec![ColumnGroup { title: String::new(), columns: names }])
}

fn row(name: String, pair: &CorrelatedPair) -> Vec<Cell> {
    let correlation = &pair.correlation;
    let strength = pair.judged().strength;
    let word = match (strength, pair.is_significant) {
        (Strength::None, _) => "none".to_owned(),
        (strength, true) => strength.to_string(),
        (strength, false) => format!("{strength}, or chance"),
    };
    let tone = match (strength, pair.is_significant) {
        (Strength::Strong, true) => Tone::Warning,
        (Strength::None, _) | (_, false) => Tone::Faint,
        _ => Tone::Plain,
    };
    vec![
        Cell::new(format!("  {name}")),
        Cell::new(format!("{:.3}", correlation.coefficient)),
        Cell::new(
            pair.beyond_daily_cycle
                .map_or_else(|| NOTHING.to_owned(), |beyond| format!("{:.3}", beyond.coefficient)),
        ),
        Cell::toned(word, tone),
        Cell::new(if pair.p_adjusted < 0.001 {
            "<0.001".to_owned()
        } else {
            format!("{:.3}", pair.p_adjusted)
        }),
        Cell::new(format_count(correlation.pairs)),
    ]
}

#[cfg(test)]
mod tests {
    use iolag_analysis::history::Correlation;

    use super::*;

    fn pair(left: (&str, &str), right: (&str, &str)) -> CorrelatedPair {
        let variable = |(target, task): (&str, &str)| Variable {
            series: SeriesKey { target: target.to_owned(), task: task.to_owned(), ..SeriesKey::default() },
            quantity: Quantity::Duration,
        };
        CorrelatedPair {
            left: variable(left),
            right: variable(right),
            correlation: Correlation {
                pairs: 4032,
                pairs_effective: 900.0,
                coefficient: 0.603,
                strength: Strength::Strong,
                p: 1e-6,
            },
            beyond_daily_cycle: None,
            p_adjusted: 1e-5,
            is_significant: true,
            lags: None,
        }
    }

    #[test]
    fn pairs_belong_into_the_tables_of_the_study() {
        let place = |left, right| place_of(&pair(left, right));
        let home = SeriesKey { target: "/home".to_owned(), task: "list".to_owned(), ..SeriesKey::default() };
        assert_eq!(place(("/home", "list"), ("/home", "create")), Place::Together(home.clone()));
        assert_eq!(place(("", "load"), ("/home", "list")), Place::Together(home));
        assert_eq!(place(("/home", "list"), ("/scratch", "list")), Place::Twice);
        assert_eq!(place(("/home", "list"), ("/scratch", "create")), Place::Elsewhere);
    }

    #[test]
    fn words_without_significance_are_doubted() {
        let texts = |pair: &CorrelatedPair| {
            row("a & b".to_owned(), pair).into_iter().map(|cell| cell.text).collect::<Vec<_>>()
        };
        let strong = pair(("/home", "a"), ("/home", "b"));
        assert_eq!(texts(&strong), ["  a & b", "0.603", NOTHING, "strong", "<0.001", "4 032"]);
        let doubtful = CorrelatedPair { is_significant: false, p_adjusted: 0.2, ..strong };
        assert_eq!(texts(&doubtful)[3], "strong, or chance");
    }
}

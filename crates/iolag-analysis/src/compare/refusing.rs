//! What cannot be compared, and why.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

use iolag_model::{Phase, one_line};

use super::cells::{Row, TARGET};
use super::side::{RowKey, Side, UnitKind};
use super::table::{CompareOptions, ComparedWorkload, LeftOut};
use crate::finding::words::joined;
use crate::run::standing::Standing;
use crate::run::values::RunQuantity;
use crate::statistics::interval::ranks_and_shares::attempts_needed;

/// Nothing can be compared; one sentence that says why and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompareError {
    /// What was asked for cannot be.
    Asked(String),
    /// It could be, but no run of a side says anything.
    NothingMeasured(String),
}

impl fmt::Display for CompareError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Asked(sentence) | Self::NothingMeasured(sentence)) = self;
        formatter.pad(sentence)
    }
}

impl Error for CompareError {}

/// Refuses runs of which none repeated what its program did.
///
/// # Errors
/// If there are runs, and all of them are void.
pub(super) fn refuse_void(sides: &[Side]) -> Result<(), CompareError> {
    let mut units = sides.iter().flat_map(|side| &side.units).peekable();
    match units.peek().is_some() && units.all(|unit| unit.standing == Standing::Void) {
        false => Ok(()),
        true => Err(CompareError::NothingMeasured(
            "all runs are void, since they did not repeat what their program did, and none says anything of its target: iolag show RUN says why".into(),
        )),
    }
}

/// What is compared, by name, each by its quantity.
///
/// # Errors
/// If there are not two sides with runs that have a workload in common, no run has such a quantity, or one is on two sides.
pub(super) fn refuse(
    sides: &[Side],
    options: &CompareOptions,
) -> Result<Vec<ComparedWorkload>, CompareError> {
    if sides.len() < 2 {
        return Err(CompareError::Asked(
            "compare needs a base and another side: name a second one (iolag list shows runs), or campaign:RUN of several targets"
                .into(),
        ));
    }
    // The others are compared without a side that says nothing.
    let says_nothing = |side: &&Side| side.units.is_empty();
    let silent = sides.iter().filter(says_nothing).count();
    let is_alone = silent + 1 == sides.len();
    if let Some(side) = sides.iter().find(says_nothing).filter(|_| is_alone || sides[0].units.is_empty()) {
        return Err(CompareError::NothingMeasured(format!(
            "{} cannot be compared: it has no {} that says anything of its target",
            side.name,
            UnitKind::of(sides).names()[0]
        )));
    }
    refuse_workloads(sides)?;
    refuse_twice(sides)?;
    refuse_unknown_names(sides, &options.across)?;
    refuse_unknown_phases(sides, &options.phases)?;
    let first = &sides[0].units[0];
    let workloads = workloads(sides, options.quantity);
    // Of one workload is enough.
    let shown = workloads.iter().map(|workload| workload.quantity).find(|one| has_quantity(sides, *one));
    let shown = shown.unwrap_or(options.quantity.unwrap_or(first.usual));
    let mut wanted = std::iter::once(shown).chain(options.rules.iter().map(|rule| rule.quantity));
    match wanted.find(|quantity| !has_quantity(sides, *quantity)) {
        None => Ok(workloads),
        Some(RunQuantity::Rate) if is_no_bench(&first.workload) => Err(CompareError::Asked(format!(
            "{} has no rate: choose median, p95 or over:DURATION",
            called(&first.workload)
        ))),
        Some(quantity) => {
            let known: BTreeSet<RunQuantity> = quantities(sides).collect();
            let known: Vec<String> = known.iter().map(RunQuantity::to_string).collect();
            let choose = if known.is_empty() { String::new() } else { format!(": choose {}", joined(known)) };
            Err(CompareError::Asked(format!("no run says anything of {quantity}{choose}")))
        }
    }
}

fn has_quantity(sides: &[Side], quantity: RunQuantity) -> bool {
    quantities(sides).any(|known| known == quantity)
}

fn quantities(sides: &[Side]) -> impl Iterator<Item = RunQuantity> {
    let values = sides.iter().flat_map(|side| &side.units).flat_map(|unit| &unit.values);
    values.flat_map(|value| value.amounts.iter().map(|(known, _)| *known))
}

/// With its article: `a check`, `a bench of metadata`.
fn called(workload: &str) -> String {
    if is_no_bench(workload) { format!("a {workload}") } else { format!("a bench of {workload}") }
}

/// Whether it has no rate: what it does is done now and then.
fn is_no_bench(workload: &str) -> bool {
    matches!(workload, "check" | "ping" | "trace" | "watch")
}

/// What the sides measured, by name, with what is usual for the first run of it.
fn workloads(sides: &[Side], wish: Option<RunQuantity>) -> Vec<ComparedWorkload> {
    let mut workloads: Vec<ComparedWorkload> = Vec::new();
    for unit in sides.iter().flat_map(|side| &side.units) {
        if workloads.iter().all(|known| known.name != unit.workload) {
            let quantity = wish.unwrap_or(unit.usual);
            workloads.push(ComparedWorkload { name: unit.workload.clone(), quantity });
        }
    }
    workloads.sort_by(|one, other| one.name.cmp(&other.name));
    workloads
}

/// Somebody has what the base has; what only some have is told as left out.
fn refuse_workloads(sides: &[Side]) -> Result<(), CompareError> {
    let of_side = |side: &Side| side.units.iter().map(|unit| unit.workload.clone()).collect::<BTreeSet<_>>();
    let base = of_side(&sides[0]);
    let saying = || sides[1..].iter().filter(|side| !side.units.is_empty());
    if saying().any(|side| !of_side(side).is_disjoint(&base)) {
        return Ok(());
    }
    let other = saying().next().unwrap_or(&sides[0]);
    let told = |workloads: BTreeSet<String>| joined(workloads.iter().map(|name| called(name)).collect());
    Err(CompareError::Asked(format!(
        "cannot compare {} with {}: {} has the one, {} the other",
        told(base),
        told(of_side(other)),
        sides[0].name,
        other.name
    )))
}

fn refuse_twice(sides: &[Side]) -> Result<(), CompareError> {
    let are_days = sides.iter().flat_map(|side| &side.units).any(|unit| unit.kind == UnitKind::Day);
    let sentence = if are_days {
        day_twice(sides).map(|(day, target)| {
            format!(
                "the day {day} of {target} is on both sides: name another target, or end the one side where the other begins, as in \
                 history:{target}@..MOMENT history:{target}@MOMENT.."
            )
        })
    } else {
        run_twice(sides).map(|run| format!("run {run} is on both sides: nothing can differ"))
    };
    sentence.map_or(Ok(()), |sentence| Err(CompareError::Asked(sentence)))
}

fn run_twice(sides: &[Side]) -> Option<&str> {
    let mut seen = BTreeSet::new();
    for side in sides {
        let mut own = BTreeSet::new();
        for unit in &side.units {
            own.extend(unit.values.iter().map(|value| (unit.name.as_str(), &value.target)));
        }
        if let Some((run, _)) = own.intersection(&seen).next() {
            return Some(run);
        }
        seen.append(&mut own);
    }
    None
}

/// A day, with its target, of which some time is on two sides, whatever part of it either has.
fn day_twice(sides: &[Side]) -> Option<(&str, &str)> {
    let mut parts = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        for unit in &side.units {
            parts.extend(
                unit.values.iter().map(|value| (value.target.as_str(), unit.span_ns, at, unit.name.as_str())),
            );
        }
    }
    parts.sort_unstable();
    // Until when the days of this target last that have been looked at, on each side.
    let mut ends: Vec<Option<(&str, i64)>> = vec![None; sides.len()];
    for (target, [begin, end], at, day) in parts {
        let lasts = |(of, end): (&str, i64)| of == target && begin <= end;
        if ends.iter().enumerate().any(|(side, last)| side != at && last.is_some_and(lasts)) {
            return Some((day, target));
        }
        if ends[at].is_none_or(|(of, last)| of != target || last < end) {
            ends[at] = Some((target, end));
        }
    }
    None
}

/// A name with a slip of the pen would pool nothing, and nobody would know.
fn refuse_unknown_names(sides: &[Side], across: &[String]) -> Result<(), CompareError> {
    let names: BTreeSet<&str> = sides
        .iter()
        .flat_map(|side| &side.units)
        .flat_map(|unit| unit.labels.keys().chain(unit.coordinates.keys()))
        .map(String::as_str)
        .chain([TARGET])
        .collect();
    match across.iter().find(|name| !names.contains(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(CompareError::Asked(format!(
            "--across {}: no run here has such a label, choose from {}",
            one_line(name),
            joined(names.into_iter().map(one_line).collect())
        ))),
    }
}

/// What is in the table anyway, and what no run has, would add nothing to it.
fn refuse_unknown_phases(sides: &[Side], asked: &[Phase]) -> Result<(), CompareError> {
    let values = sides.iter().flat_map(|side| &side.units).flat_map(|unit| &unit.values);
    let known: BTreeSet<Phase> = values.filter_map(|value| value.cell.phase).collect();
    let Some(phase) = asked.iter().find(|phase| !known.contains(phase)) else { return Ok(()) };
    let advice = if known.is_empty() {
        "leave it out".to_owned()
    } else {
        format!("choose from {}", joined(known.iter().map(ToString::to_string).collect()))
    };
    Err(CompareError::Asked(format!("--phases {phase} adds nothing that these runs measured: {advice}")))
}

/// Why nothing is left of the rows of such a quantile.
pub(super) fn refuse_few_attempts(sides: &[Side], rows: &[LeftOut], quantity: RunQuantity) -> CompareError {
    let of_row = |row: &LeftOut| match row {
        LeftOut::FewAttempts { key, attempts, .. } => Some((key.measured().to_owned(), attempts.clone())),
        _ => None,
    };
    let (measured, attempts) = rows.iter().find_map(of_row).unwrap_or_default();
    let told = |(side, attempts): (&Side, &Option<u64>)| Some(format!("of {} {}", side.name, (*attempts)?));
    let told: Vec<String> = sides.iter().zip(&attempts).filter_map(told).collect();
    let needed = quantity.quantile().map_or(0, attempts_needed);
    let unit = UnitKind::of(sides).names()[0];
    CompareError::Asked(format!(
        "{quantity} cannot be compared: it depends on the number of attempts where that is below {needed}, and a {unit} has a different one of \
         {measured}, {}; choose median or over:DURATION",
        joined(told)
    ))
}

/// Why no row is of both the base and another side.
pub(super) fn refuse_nothing_common(sides: &[Side], rows: &[Row], across: &[String]) -> CompareError {
    let across = |names: &[&str]| {
        across.iter().map(String::as_str).chain(names.iter().copied()).collect::<Vec<_>>().join(",")
    };
    let names: BTreeSet<&str> = rows.iter().flat_map(|row| parts(&row.key)).map(|(name, _)| name).collect();
    if let Some(name) = names.iter().find(|name| tells_all(sides, name)) {
        let is_label = rows.iter().any(|row| row.key.labels.contains_key(*name));
        let what = if is_label { "label" } else { "coordinate" };
        return CompareError::Asked(format!(
            "the {what} {name} is different in all runs, so nothing matches: add --across {}",
            across(&[name])
        ));
    }
    let of_side = |side: usize| move |row: &&Row| !row.sides[side].is_empty();
    // The other side is the first that has a row at all.
    let other = (1..sides.len()).find(|side| rows.iter().any(|row| !row.sides[*side].is_empty()));
    let [base, other] = [0, other.unwrap_or(1)].map(|side| Keys {
        side: &sides[side].name,
        keys: rows.iter().filter(of_side(side)).map(|row| &row.key).collect(),
    });
    let are_disjoint = |name: &&&str| base.values(name).is_disjoint(&other.values(name));
    let differing: Vec<&str> = names.iter().filter(are_disjoint).copied().collect();
    let ([of_base, of_other], advice) = match differing.first() {
        _ if base.operations().is_disjoint(&other.operations()) => {
            ([&base, &other].map(Keys::told_operations), String::new())
        }
        Some(name) => {
            let told = [&base, &other].map(|keys| keys.told_values(name));
            (told, format!("; --across {} would compare them all the same", across(&differing)))
        }
        None => ([&base, &other].map(Keys::told_first), String::new()),
    };
    let (base, other) = (base.side, other.side);
    CompareError::Asked(format!(
        "nothing is in both {base} and {other}: {base} has {of_base}, {other} {of_other}{advice}"
    ))
}

/// Whether a label or coordinate has a value of its own in each run: a counter, a date.
fn tells_all(sides: &[Side], name: &str) -> bool {
    let units = || sides.iter().flat_map(|side| &side.units);
    let values: BTreeSet<&String> =
        units().filter_map(|unit| unit.labels.get(name).or_else(|| unit.coordinates.get(name))).collect();
    values.len() > 2 && values.len() == units().count()
}

fn parts(key: &RowKey) -> impl Iterator<Item = (&str, &str)> {
    key.coordinates.iter().chain(&key.labels).map(|(name, value)| (name.as_str(), value.as_str()))
}

/// The rows of a side.
struct Keys<'a> {
    side: &'a str,
    keys: Vec<&'a RowKey>,
}

impl Keys<'_> {
    fn operations(&self) -> BTreeSet<&str> {
        self.keys.iter().map(|key| key.measured()).collect()
    }

    fn told_operations(&self) -> String {
        if self.keys.is_empty() {
            return "nothing of the phases that are compared, to which --phases adds".to_owned();
        }
        joined(self.operations().into_iter().map(str::to_owned).collect())
    }

    /// The values of a name; nothing is one, too.
    fn values(&self, name: &str) -> BTreeSet<&str> {
        let value = |key| parts(key).find(|(own, _)| *own == name).map_or("", |(_, value)| value);
        self.keys.iter().copied().map(value).collect()
    }

    fn told_values(&self, name: &str) -> String {
        let told =
            |value: &str| if value.is_empty() { format!("no {name}") } else { format!("{name}={value}") };
        joined(self.values(name).into_iter().map(told).collect())
    }

    fn told_first(&self) -> String {
        let Some(key) = self.keys.first() else { return "nothing".to_owned() };
        let told = joined(parts(key).map(|(name, value)| format!("{name}={value}")).collect());
        format!("{} with {told}", key.measured())
    }
}

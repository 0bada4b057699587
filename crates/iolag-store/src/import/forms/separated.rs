//! Separated files: CSV, its relatives with other marks, and what Grafana exports.

use std::collections::HashMap;

use iolag_model::SeriesKey;

use super::table::{Row, Table};
use crate::import::error::{ImportError, Tolerance, cleaned};
use crate::import::options::file_options::{ColumnName, ImportForm, Separator};
use crate::import::options::import_options::ImportOptions;
use crate::import::options::time_options::TimeFormat;
use crate::import::options::value_options::ValueUnit;
use crate::import::rows::{RawRows, RawSeries};
use crate::import::source::Text;
use crate::import::times::time_text::{read_by_format, read_time};

/// Names that columns with times have.
const TIME_NAMES: [&str; 9] =
    ["time", "timestamp", "date", "datetime", "date_time", "date time", "when", "epoch", "start"];

/// Finds all values of a separated file.
///
/// # Errors
/// If columns are missing or too many rows are bad.
pub(crate) fn read_separated(
    text: &Text,
    form: ImportForm,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
) -> Result<(RawRows, Separator), ImportError> {
    let file = tolerance.file();
    let table = Table::read(text, file, options, |first| is_header(first, options))?;
    let layout = Layout::of(&table, form, options, file)?;
    let mut found = RawRows::of_lines(table.lines, table.ignored, &options.directory);
    let mut series = SeriesTable { options, file, found: HashMap::new() };
    let columns_needed = layout.columns_needed();
    // Where no row names its series, each column has its own.
    let mut of_columns: Vec<Option<u32>> = vec![None; layout.values.len()];
    let (mut rows, mut row) = (table.rows(), Row::default());
    while rows.read(&mut row)? {
        if row.len() < columns_needed {
            tolerance.leave_out(
                row.line,
                &row.shown(),
                format!("a row of {} column(s), expected {columns_needed} at least", row.len()),
            )?;
            continue;
        }
        let status = layout.status.map_or("", |column| row.cell(column));
        let mut time = None;
        for (value, of_column) in layout.values.iter().zip(&mut of_columns) {
            let index = match *of_column {
                Some(index) if !layout.is_long() => index,
                _ => *of_column.insert(series.index(&layout, value, &row, &mut found)?),
            };
            // Where every row names its series, the rows of each series are in an order of their own.
            let group = if layout.is_long() { index } else { 0 };
            let time = match time {
                Some(time) => time,
                None => *time.insert(found.add_time(row.line, &row.joined(&layout.time), group)?),
            };
            found.add_value(time, index, row.cell(value.column), status)?;
        }
    }
    Ok((found, table.separator))
}

/// Whether the first row names columns: an option does, or its time is no time.
fn is_header(first: &Row, options: &ImportOptions) -> bool {
    let named =
        |name: &ColumnName| (0..first.len()).any(|index| first.cell(index).eq_ignore_ascii_case(&name.0));
    let columns = options.time.iter().chain(options.values.iter().map(|value| &value.column));
    if columns.clone().any(|name| name.number().is_none() && named(name)) {
        return true;
    }
    let times: Vec<usize> = match options.time.as_slice() {
        [] => (0..first.len()).collect(),
        names => names.iter().filter_map(ColumnName::number).map(|number| number - 1).collect(),
    };
    let is_time = |text: &str| match &options.time_format {
        Some(TimeFormat::Strftime(format)) => read_by_format(format, text).is_some(),
        _ => read_time(text).is_some(),
    };
    !is_time(&first.joined(&times)) && !times.iter().any(|column| is_time(first.cell(*column)))
}

/// Which column is what.
struct Layout {
    time: Vec<usize>,
    values: Vec<LaidOutValue>,
    task: Option<usize>,
    target: Option<usize>,
    status: Option<usize>,
}

struct LaidOutValue {
    column: usize,
    name: String,
    task: String,
    part: String,
    target: Option<String>,
    unit: Option<ValueUnit>,
}

impl Layout {
    fn of(
        table: &Table<'_>,
        form: ImportForm,
        options: &ImportOptions,
        file: &str,
    ) -> Result<Self, ImportError> {
        let optional =
            |name: &Option<ColumnName>| name.as_ref().map(|name| table.column(name, file)).transpose();
        let mut layout = Self {
            time: Vec::new(),
            values: Vec::new(),
            task: optional(&options.task_column)?,
            target: optional(&options.target_column)?,
            status: optional(&options.status_column)?,
        };
        let named = |wanted: &str| {
            table.names().find(|(_, name)| name.eq_ignore_ascii_case(wanted)).map(|(index, _)| index)
        };
        if form == ImportForm::Grafana && layout.task.is_none() && named("Value").is_some() {
            layout.task = named("Series").or_else(|| named("Metric"));
        }
        for name in &options.time {
            layout.time.push(table.column(name, file)?);
        }
        if layout.time.is_empty() {
            layout.time.push(TIME_NAMES.iter().find_map(|name| named(name)).unwrap_or(0));
        }
        for value in &options.values {
            let column = table.column(&value.column, file)?;
            layout.values.push(LaidOutValue {
                column,
                name: table.header.as_ref().map_or(String::new(), |header| header.cell(column).to_owned()),
                task: value.task.clone(),
                part: value.part.clone(),
                target: value.target.clone(),
                unit: value.unit.clone(),
            });
        }
        if layout.values.is_empty() {
            layout.values = layout.remaining_values(table, form, options, file)?;
        }
        Ok(layout)
    }

    /// Values that nobody named: all other columns of a Grafana export, or the only other column of any file.
    fn remaining_values(
        &self,
        table: &Table<'_>,
        form: ImportForm,
        options: &ImportOptions,
        file: &str,
    ) -> Result<Vec<LaidOutValue>, ImportError> {
        let used = |column: &usize| {
            self.time.contains(column) || [self.task, self.target, self.status].contains(&Some(*column))
        };
        let others: Vec<usize> = (0..table.width).filter(|column| !used(column)).collect();
        let is_grafana = form == ImportForm::Grafana;
        if others.is_empty() && table.rows_count > 0 {
            return Err(ImportError::options(
                file,
                format!("it has no column for a value besides the time; {}", table.described()),
            ));
        }
        if others.len() > 1 && !is_grafana {
            return Err(ImportError::options(
                file,
                format!(
                    "say which columns are values, for instance --value {}=TASK; {}",
                    others[0] + 1,
                    table.described()
                ),
            ));
        }
        let name_of = |column: usize| {
            table.header.as_ref().map_or(String::new(), |header| header.cell(column).to_owned())
        };
        let values = others.into_iter().map(|column| LaidOutValue {
            column,
            name: name_of(column),
            task: match name_of(column) {
                name if is_grafana && self.task.is_none() && !name.is_empty() => name,
                _ => options.task.clone(),
            },
            part: String::new(),
            target: None,
            unit: None,
        });
        Ok(values.collect())
    }

    /// Columns that a row has to have; a shorter one is a line that was cut.
    fn columns_needed(&self) -> usize {
        let values = self.values.iter().map(|value| &value.column);
        self.time.iter().chain(values).max().map_or(1, |last| last + 1)
    }

    const fn is_long(&self) -> bool {
        self.task.is_some() || self.target.is_some()
    }
}

/// Series by what names them.
pub(crate) struct SeriesTable<'a> {
    pub options: &'a ImportOptions,
    pub file: &'a str,
    pub found: HashMap<SeriesKey, u32>,
}

impl SeriesTable<'_> {
    fn index(
        &mut self,
        layout: &Layout,
        value: &LaidOutValue,
        row: &Row,
        rows: &mut RawRows,
    ) -> Result<u32, ImportError> {
        let task = layout.task.map_or("", |column| row.cell(column));
        let target = layout.target.map_or("", |column| row.cell(column));
        // A file of many value columns whose rows name tasks too: the column is a part of the task.
        let (task, part) = match (task, layout.values.len()) {
            ("", _) => (value.task.as_str(), value.part.as_str()),
            (task, 1) => (task, value.part.as_str()),
            (task, _) => (task, value.task.as_str()),
        };
        let target = match (target, &value.target) {
            ("", Some(target)) => target,
            ("", None) => &self.options.target,
            (target, _) => target,
        };
        self.find([task, part, target], value.unit.as_ref(), &value.name, rows)
    }

    /// Index of the series with this task, part and target.
    ///
    /// # Errors
    /// If there are too many.
    pub fn find(
        &mut self,
        [task, part, target]: [&str; 3],
        unit: Option<&ValueUnit>,
        column: &str,
        rows: &mut RawRows,
    ) -> Result<u32, ImportError> {
        let clean = |text: &str| cleaned(text.chars().take(200));
        let key = SeriesKey {
            host: self.options.host.clone(),
            target: clean(target),
            task: clean(task),
            part: clean(part),
        };
        if let Some(index) = self.found.get(&key) {
            return Ok(*index);
        }
        let index = rows.series.len();
        if index >= RawRows::SERIES_MAX {
            return Err(ImportError::options(
                self.file,
                format!(
                    "it has more than {} series; is the column that names them the right one?",
                    RawRows::SERIES_MAX
                ),
            ));
        }
        rows.series.push(RawSeries {
            key: key.clone(),
            unit: unit.or(self.options.unit.as_ref()).cloned(),
            column: column.to_owned(),
        });
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        self.found.insert(key, index);
        Ok(index)
    }
}

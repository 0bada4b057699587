//! What is told apart, and the place of each sample in it.

use std::num::NonZeroU32;
use std::ops::Range;

use iolag_model::SampleColumns;

/// Places per stage, target and client: one per operation code.
const OPERATION_CODES: u32 = 256;
/// The place of rows that belong nowhere.
pub(crate) const NO_PLACE: u32 = u32::MAX;
/// Rows whose places are found before they are counted: few enough to stay in the first-level cache.
pub(crate) const ROWS_AT_ONCE: usize = 1024;
/// No group has this place yet.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// What is told apart besides the operation: how many stages, targets and clients there are, or `None` to sum
/// over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Grouping {
    /// Stages of the run, to tell them apart.
    pub stages: Option<NonZeroU32>,
    /// Targets of the run, to tell them apart.
    pub targets: Option<NonZeroU32>,
    /// Clients of the run, to tell them apart.
    pub clients: Option<NonZeroU32>,
}

impl Grouping {
    /// The place of each of these rows; axis by axis, which compilers turn into vector instructions.
    pub(crate) fn find_places(&self, columns: &SampleColumns<'_>, rows: Range<usize>, places: &mut [u32]) {
        let operations = &columns.operation_code[rows.clone()];
        for (place, &code) in places.iter_mut().zip(operations) {
            *place = if (code as u32) < OPERATION_CODES { code as u32 } else { NO_PLACE };
        }
        let mut factor = Some(OPERATION_CODES);
        let axes =
            [(self.clients, columns.client), (self.targets, columns.target), (self.stages, columns.stage)];
        for (wanted, column) in axes {
            let Some(bound) = wanted.map(NonZeroU32::get) else {
                continue;
            };
            let Some(step) = factor.filter(|step| step.checked_mul(bound).is_some()) else {
                // More places than there can be memory for: nothing of it is known.
                places.fill(NO_PLACE);
                return;
            };
            if let Some(column) = column.get(rows.clone()) {
                for (place, &value) in places.iter_mut().zip(column) {
                    let value = value as u32;
                    let is_known = value < bound && *place != NO_PLACE;
                    *place = if is_known { place.wrapping_add(value.wrapping_mul(step)) } else { NO_PLACE };
                }
            }
            factor = step.checked_mul(bound);
        }
    }
}

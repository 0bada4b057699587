//! What a call does to the descriptors of its task, and what others must have done with them before.

use iolag_model::WhyLeftOut;

use super::Repeater;
use crate::calls::{Effect, Shape, bits};
use crate::replay::change::Change;
use crate::replay::descriptors::Known;
use crate::replay::mapping::Mapped;
use crate::replay::ordering::Use;
use crate::replay::place::PlaceId;
use crate::replay::repetition::{After, Ask};
use crate::state::SharedId;
use crate::trace::{Call, Tables, TaskId, clone_flags};

impl Repeater {
    /// What the descriptors of the task are after a call; what it is that it asks is made whole by that.
    pub(super) fn apply(
        &mut self,
        call: &Call,
        shape: &Shape,
        ask: &mut Result<Ask, WhyLeftOut>,
        tables: &Tables,
    ) {
        let Some(table) = self.tasks[call.task.0 as usize].table else { return };
        let descriptor = call.descriptor.unwrap_or(-1);
        if shape.effect == Effect::Close {
            self.descriptors.remove(table, descriptor);
        }
        let Some(new) = call.result.filter(|_| call.succeeded()).and_then(|new| i32::try_from(new).ok())
        else {
            return;
        };
        let is_copy = matches!(shape.effect, Effect::Duplicate)
            || shape.effect == Effect::Control
                && matches!(call.argument, bits::F_DUPFD | bits::F_DUPFD_CLOEXEC);
        match shape.effect {
            Effect::Open | Effect::Duplicate | Effect::Control if shape.effect == Effect::Open || is_copy => {
                if is_copy && new == descriptor {
                    if let Ok(Ask::Duplicate(on, ..)) = ask {
                        *ask = Ok(Ask::Flags(*on));
                    }
                    return;
                }
                let closes_at_execute = match shape.effect {
                    Effect::Control => call.argument == bits::F_DUPFD_CLOEXEC,
                    _ => call.flags & bits::O_CLOEXEC != 0,
                };
                let place = match is_copy {
                    true => self.descriptors.get(table, descriptor).and_then(|known| known.place),
                    false => {
                        let mapped = call.path.map_or(Mapped::Ignored, |path| self.mapped(path, tables));
                        self.place(&mapped)
                    }
                };
                let origin = match ask {
                    Ok(Ask::Open(..) | Ask::Change(Change::Open(..))) => Ok(self.descriptors.number(None)),
                    Ok(Ask::Duplicate(on, ..)) => Ok(self.descriptors.number(Some(*on))),
                    Ok(_) => Err(WhyLeftOut::UnknownDescriptor),
                    Err(why) => Err(*why),
                };
                let before = self.descriptors.put(table, new, Known { origin, place, closes_at_execute });
                if let (Ok(Ask::Duplicate(_, _, over)), Some(Ok(before))) =
                    (ask, before.map(|before| before.origin))
                {
                    *over = Some(before);
                    // It is closed by that.
                    let users = self.descriptors.users(before, table);
                    self.follow_all(call.task, users);
                }
            }
            Effect::Control if call.argument == bits::F_SETFD => {
                let closes = call.flags & bits::FD_CLOEXEC != 0;
                self.descriptors.set_closes_at_execute(table, descriptor, closes);
            }
            // The number is of something else now.
            Effect::OpenOther => {
                self.descriptors.remove(table, new);
            }
            Effect::Unshare if call.flags & clone_flags::CLONE_FILES != 0 => self.unshare(call.task),
            Effect::CloseRange => self.close_range(call),
            _ => {}
        }
    }

    pub(super) fn unshare(&mut self, task: TaskId) {
        if let Some(table) = self.tasks[task.0 as usize].table {
            self.tasks[task.0 as usize].table = Some(self.descriptors.unshare(table));
        }
    }

    fn close_range(&mut self, call: &Call) {
        if call.flags & bits::CLOSE_RANGE_UNSHARE != 0 {
            self.unshare(call.task);
        }
        let Some(table) = self.tasks[call.task.0 as usize].table else { return };
        // The last may be ~0U, however that is written.
        let first = call.offset.and_then(|first| i32::try_from(first).ok()).unwrap_or(i32::MAX);
        let last = i32::try_from(call.length).unwrap_or(i32::MAX);
        let mut closed = Vec::new();
        for number in self.descriptors.numbers(table, first, last) {
            if call.flags & bits::CLOSE_RANGE_CLOEXEC != 0 {
                self.descriptors.set_closes_at_execute(table, number, true);
            } else if let Some(Ok(origin)) = self.descriptors.remove(table, number).map(|known| known.origin)
            {
                closed.push(origin);
            }
        }
        if !closed.is_empty() {
            for descriptor in &closed {
                let users = self.descriptors.users(*descriptor, table);
                self.follow_all(call.task, users);
            }
            self.push(call.task, Ask::CloseAll(closed), call.start.0, 0);
        }
    }

    /// What others do with the descriptors of an item has to be done before: they are opened, not used any more when they are closed, and where they were left when they are
    /// read on.
    pub(super) fn wait_for_descriptors(&mut self, task: TaskId, ask: &Ask, table: SharedId) {
        let closes = matches!(ask, Ask::Close(_));
        for descriptor in ask.descriptors() {
            let others = match closes {
                true => self.descriptors.users(*descriptor, table),
                false => self.descriptors.opener(*descriptor, table).into_iter().collect(),
            };
            self.follow_all(task, others);
            if ask.moves() {
                let moved = self.descriptors.moved(*descriptor).and_then(|moved| *moved);
                self.follow_all(task, moved.into_iter().collect());
            }
        }
    }

    pub(super) fn note_uses(&mut self, task: TaskId, ask: &Ask) {
        let by = After { task: task.0, items: self.items_of(task) };
        let Some(table) = self.tasks[task.0 as usize].table else { return };
        for descriptor in ask.opens().iter().chain(ask.descriptors()) {
            self.descriptors.use_by(*descriptor, by, table);
            if ask.moves()
                && let Some(moved) = self.descriptors.moved(*descriptor)
            {
                *moved = Some(by);
            }
        }
    }

    /// What of the copy's own it uses, and how.
    pub(super) fn uses(&self, ask: &Ask, place: Option<PlaceId>) -> Vec<(PlaceId, Use)> {
        let how = match ask {
            Ask::Close(_) | Ask::Duplicate(..) => return Vec::new(),
            Ask::Change(Change::Rename(..) | Change::RemoveDirectory(_)) => Use::ChangesWhole,
            Ask::Change(_) => Use::Changes,
            _ => Use::Looks,
        };
        let places: Vec<PlaceId> = match ask {
            Ask::Change(change) if change.descriptor().is_none() => change.places().collect(),
            _ => place.into_iter().collect(),
        };
        places.into_iter().filter(|place| self.is_own(*place)).map(|place| (place, how)).collect()
    }

    pub(super) fn wait_in_order(&mut self, task: TaskId, uses: &[(PlaceId, Use)]) {
        for (place, how) in uses {
            let before = self.order.before(&self.places[place.0 as usize].path, *how, task.0);
            self.follow_all(task, before);
        }
    }

    pub(super) fn note_order(&mut self, task: TaskId, uses: &[(PlaceId, Use)]) {
        let by = After { task: task.0, items: self.items_of(task) };
        for (place, how) in uses {
            self.order.note(&self.places[place.0 as usize].path, *how, by);
        }
    }
}

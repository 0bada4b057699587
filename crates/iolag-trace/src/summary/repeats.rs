//! The same question asked again, although nothing had changed.

use std::cmp::Reverse;

use iolag_model::{RepeatedQuestion, TraceRepeats};

use crate::trace::{CallName, Map, PathId, Tables, TaskId, path_text};

/// A question about a path, since that was last changed.
#[derive(Debug, Clone, Copy)]
struct Asked {
    name: CallName,
    /// How often; 0: there is no question.
    times: u32,
    /// By which process last.
    last: TaskId,
}

const NOT_ASKED: Asked = Asked { name: CallName(0), times: 0, last: TaskId(0) };

/// More that were asked several times than are shown at the end.
const CANDIDATES_MAX: usize = 4096;

/// All questions of a trace. Most paths are asked one: that one stands in a list, for there may be millions.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    first: Vec<Asked>,
    others: Map<PathId, Vec<Asked>>,
    counts: TraceRepeats,
    several: Vec<(PathId, Asked)>,
}

impl Repeats {
    /// A question, of a process.
    pub(super) fn ask(&mut self, name: CallName, path: PathId, process: TaskId, time: u64) {
        let place = path.0 as usize;
        if self.first.len() <= place {
            self.first.resize(place + 1, NOT_ASKED);
        }
        let first = &mut self.first[place];
        let asked = if first.times == 0 || first.name == name {
            first
        } else {
            let others = self.others.entry(path).or_default();
            let known = others.iter().position(|asked| asked.name == name);
            let place = known.unwrap_or(others.len());
            if known.is_none() {
                others.push(NOT_ASKED);
            }
            &mut others[place]
        };
        if asked.times == 0 {
            self.counts.questions += 1;
        } else {
            self.counts.repeats += 1;
            self.counts.own_repeats += u64::from(asked.last == process);
            self.counts.time_ns.0 = self.counts.time_ns.0.saturating_add(time);
        }
        *asked = Asked { name, times: asked.times.saturating_add(1), last: process };
    }

    /// What is asked of this path from now on may have another answer.
    pub(super) fn change(&mut self, path: PathId) {
        if let Some(first) = self.first.get_mut(path.0 as usize) {
            let first = std::mem::replace(first, NOT_ASKED);
            self.remember(path, first);
            for other in self.others.remove(&path).into_iter().flatten() {
                self.remember(path, other);
            }
        }
    }

    fn remember(&mut self, path: PathId, asked: Asked) {
        if asked.times > 1 {
            self.several.push((path, asked));
            if self.several.len() > CANDIDATES_MAX {
                self.cut(CANDIDATES_MAX / 2);
            }
        }
    }

    fn cut(&mut self, most: usize) {
        self.several.sort_by_key(|(path, asked)| (Reverse(asked.times), *path, asked.name));
        self.several.truncate(most);
    }

    /// The counts, and the questions that were asked most often.
    pub(super) fn finish(mut self, most: usize, tables: &Tables) -> TraceRepeats {
        for place in 0..self.first.len() {
            self.change(PathId(place as u32));
        }
        self.cut(most);
        let told = self.several.iter().map(|(path, asked)| RepeatedQuestion {
            name: path_text(tables.names.name(asked.name)),
            path: path_text(tables.paths.path(*path)),
            asked: u64::from(asked.times),
        });
        self.counts.most = told.collect();
        self.counts
    }
}

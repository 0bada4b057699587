//! The ledger: what is remembered of a watch, by its clock: in the spool, before whoever looks on, and as the last sample of each series.

use std::collections::BTreeMap;

use iolag_model::{
    Anchor, Event, EventSource, Evidence, HistoryRecord, HistorySample, LastSample, MonotonicTime, Outage,
    Outcome, ProbeId, SeriesKey, SessionEnd, WallTime, WatchSession,
};

use crate::memory::shortage::{RuntimeFile, Shortage, SpoolCounts};
use crate::world::configurations::event;
use crate::world::wall_clock::WallClock;
use crate::{Keeping, RuntimeError, Spool, WatchObserver};

/// Everything that a watch remembers goes through here.
pub(crate) struct Ledger<'a> {
    spool: &'a mut Spool,
    observer: &'a mut dyn WatchObserver,
    clock: WallClock<'a>,
    session: WatchSession,
    last: BTreeMap<SeriesKey, LastSample>,
    /// What was told last of each subject.
    troubles: BTreeMap<String, String>,
    shortage: Shortage,
    has_news: bool,
}

/// Whether a trouble has just been told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Novelty {
    New,
    Known,
}

impl<'a> Ledger<'a> {
    /// The ledger of a session that begins.
    pub fn new(
        spool: &'a mut Spool,
        observer: &'a mut dyn WatchObserver,
        clock: WallClock<'a>,
        session: WatchSession,
    ) -> Self {
        let (last, troubles) = (BTreeMap::new(), BTreeMap::new());
        Self {
            spool,
            observer,
            clock,
            session,
            last,
            troubles,
            shortage: Shortage::default(),
            has_news: true,
        }
    }

    /// The host whose ledger it is.
    pub fn host(&self) -> &str {
        &self.session.host
    }

    /// The session that is under way.
    pub const fn session(&self) -> &WatchSession {
        &self.session
    }

    /// Remembers a record.
    pub fn record(&mut self, record: HistoryRecord) {
        // Where it is kept does not change what is done.
        match self.spool.append(&record) {
            Keeping::Spooled => self.shortage.taken(RuntimeFile::Spool),
            Keeping::MemoryOnly => {
                let why = self.spool.refusal().unwrap_or_default();
                self.shortage.refused(RuntimeFile::Spool, &why);
            }
        }
        if let HistoryRecord::Sample(sample) = &record {
            self.note_last(sample);
        }
        self.observer.recorded(&record);
    }

    /// Remembers samples.
    pub fn record_samples(&mut self, samples: Vec<HistorySample>) {
        for sample in samples {
            self.record(HistoryRecord::Sample(sample));
        }
    }

    /// Remembers what was learnt of outages.
    pub fn record_outages(&mut self, outages: impl IntoIterator<Item = Outage>) {
        for outage in outages {
            self.record(HistoryRecord::Outage(outage));
            self.changed();
        }
    }

    /// Remembers an event of the watch itself; `target` is empty if it concerns all.
    pub fn record_event(&mut self, target: &str, begin: WallTime, kind: &str, text: String) {
        self.record(HistoryRecord::Event(self.event(target, begin, kind, text)));
    }

    /// Remembers what was seen of a probe.
    pub fn record_evidence(&mut self, probe: ProbeId, at: WallTime, text: String) {
        let host = self.host().to_owned();
        self.record(HistoryRecord::Evidence(Evidence { host, probe, at, text }));
    }

    /// Remembers that the session goes on.
    pub fn record_session(&mut self) {
        self.record(HistoryRecord::Session(self.session.clone()));
    }

    /// Remembers until when, and how, the session went on.
    pub fn see_session(&mut self, end: SessionEnd) {
        self.session.last_seen = self.wall();
        self.session.end = end;
        self.record_session();
    }

    /// The clocks now. A jump since the last reading is remembered.
    pub fn anchor(&mut self) -> Anchor {
        let (anchor, jumps) = self.clock.look();
        for jump in jumps {
            let event = Event { end: jump.end, ..self.event("", jump.begin, "clock", jump.text) };
            self.record(HistoryRecord::Event(event));
        }
        anchor
    }

    /// The wall clock now.
    pub fn wall(&mut self) -> WallTime {
        WallTime(self.anchor().realtime_ns as i64)
    }

    /// A moment by the wall clock of now.
    pub fn wall_of(&mut self, moment: MonotonicTime) -> WallTime {
        WallTime(self.anchor().realtime_of(moment) as i64)
    }

    /// When this boot began, by the wall clock of now.
    pub fn booted(&mut self) -> WallTime {
        let anchor = self.anchor();
        WallTime(anchor.realtime_ns.saturating_sub(anchor.boottime_ns) as i64)
    }

    /// A reading of the clocks in which no jump is looked for.
    pub fn peek_at_clocks(&self) -> Anchor {
        self.clock.peek()
    }

    /// A round began whose place in the grid is `begin`.
    pub fn round_began(&mut self, begin: MonotonicTime) {
        let anchor = self.anchor();
        self.clock.round_began(begin, anchor);
    }

    /// When the round under way was to begin.
    pub const fn round_intended(&self) -> WallTime {
        self.clock.round_intended()
    }

    /// Something that the status shows has changed.
    pub const fn changed(&mut self) {
        self.has_news = true;
    }

    /// Whether anything that the status shows has changed since the last time that this was taken.
    pub const fn has_news(&self) -> bool {
        self.has_news
    }

    /// The status is about to be shown.
    pub const fn take_news(&mut self) {
        self.has_news = false;
    }

    /// What the history does not have yet.
    pub const fn spool(&self) -> &Spool {
        self.spool
    }

    /// The same, for who brings it there.
    pub const fn spool_mut(&mut self) -> &mut Spool {
        self.spool
    }

    /// Whoever looks on.
    pub fn observer(&mut self) -> &mut dyn WatchObserver {
        self.observer
    }

    /// A file of the runtime directory was written, or could not be.
    pub fn written(&mut self, file: RuntimeFile, written: Result<(), RuntimeError>) {
        match written {
            Ok(()) => self.shortage.taken(file),
            Err(error) => self.shortage.refused(file, &error.to_string()),
        }
    }

    /// Tells whoever looks on that the runtime directory has no room, or has room again: each once.
    pub fn tell_of_shortage(&mut self, now: MonotonicTime) {
        if self.spool.unspooled() == 0 {
            self.shortage.taken(RuntimeFile::Spool);
        }
        let counts =
            SpoolCounts { unspooled: self.spool.unspooled() as u64, dropped: self.spool.losses().records() };
        if let Some(news) = self.shortage.news(counts, now) {
            self.observer.troubled(&news);
        }
    }

    /// Tells whoever looks on what went wrong with `subject`, unless that was told of it last: what fails once a round is not repeated
    /// every round.
    pub fn trouble(&mut self, subject: &str, sentence: &str) -> Novelty {
        let told = self.troubles.entry(subject.to_owned()).or_default();
        if told == sentence {
            return Novelty::Known;
        }
        sentence.clone_into(told);
        self.observer.troubled(sentence);
        Novelty::New
    }

    /// The last end of each series.
    pub fn last(&self) -> Vec<LastSample> {
        self.last.values().cloned().collect()
    }

    fn event(&self, target: &str, begin: WallTime, kind: &str, text: String) -> Event {
        event(self.host(), target, begin, EventSource::Watch, kind, text)
    }

    fn note_last(&mut self, sample: &HistorySample) {
        // A slot that was skipped says nothing of how things are; the probe in its way is shown by itself.
        if sample.outcome == Outcome::Skipped {
            return;
        }
        let last = LastSample {
            series: sample.series.clone(),
            start: sample.start,
            duration_ns: sample.duration_ns,
            value: sample.value,
            outcome: sample.outcome,
        };
        self.last.insert(sample.series.clone(), last);
    }
}

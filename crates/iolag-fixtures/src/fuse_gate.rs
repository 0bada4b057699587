//! The gate that every request passes before it is executed: at once, later, refused, or held.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::Errno;

use crate::fuse_rules::{Command, FuseCall, Rule, Verdict};

/// A reply that can say no.
pub(crate) trait Refuse: Send + 'static {
    /// Answers with an errno.
    fn refuse(self, errno: Errno);
}

macro_rules! refuse {
    ($($reply:ident)*) => {
        $(impl Refuse for fuser::$reply {
            fn refuse(self, errno: Errno) {
                self.error(errno);
            }
        })*
    };
}

refuse! {
    ReplyAttr ReplyBmap ReplyCreate ReplyData ReplyDirectory ReplyEmpty ReplyEntry ReplyIoctl ReplyLock ReplyLseek
    ReplyOpen ReplyPoll ReplyStatfs ReplyWrite ReplyXattr
}

/// A request that was taken and waits; running it answers it. Dropping it would answer EIO, so it is kept.
type Held = Box<dyn FnOnce() + Send>;

/// For so long the server of one request at a time may have had nothing to do without being idle.
const SLACK: Duration = Duration::from_millis(10);

#[derive(Default)]
struct State {
    rules: Vec<Rule>,
    held: Vec<Held>,
    /// Requests that change something, since the trap was set.
    changes: u32,
    /// What happens to the one with this number, from 1.
    trap: Option<(u32, Verdict)>,
    /// Requests since the mount, by kind and name.
    requests: HashMap<(FuseCall, String), u64>,
    /// When the last of those that are served one at a time is done.
    served_until: Option<Instant>,
}

impl State {
    /// When a request is done that comes now, and is served for `time` when all before it are done.
    ///
    /// Who asks again within [`SLACK`] counts as having waited all the time: what the machine adds to a request, because a thread wakes
    /// late, is made up for by the next, so that a single caller is served at the same pace as several.
    fn take_turn(&mut self, time: Duration) -> Instant {
        let now = Instant::now();
        let begin = self.served_until.filter(|until| *until + SLACK > now).unwrap_or(now);
        *self.served_until.insert(begin + time)
    }

    /// Counts the request; what the trap does to it.
    fn trap(&mut self, call: FuseCall) -> Option<Verdict> {
        if !call.changes() {
            return None;
        }
        self.changes += 1;
        self.trap.filter(|(change, _)| *change == self.changes).map(|(_, verdict)| verdict)
    }
}

/// Rules and held requests, shared by the file system and its control socket.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Mutex<State>>);

impl Gate {
    /// Lets a request pass according to the newest rule that concerns it: `execute` does it, `answer` replies.
    pub fn pass<R: Refuse, T: Send + 'static>(
        &self,
        call: FuseCall,
        name: &OsStr,
        reply: R,
        execute: impl FnOnce() -> T + Send + 'static,
        answer: impl FnOnce(R, T) + Send + 'static,
    ) {
        let mut state = self.state();
        let name = name.to_string_lossy();
        *state.requests.entry((call, name.clone().into_owned())).or_default() += 1;
        let trapped = state.trap(call);
        let rule = state.rules.iter().rev().find(|rule| rule.concerns(call, &name));
        match trapped.or(rule.map(|rule| rule.verdict)).unwrap_or(Verdict::Answer) {
            Verdict::Hang => state.held.push(Box::new(move || answer(reply, execute()))),
            Verdict::Withhold => {
                drop(state);
                let done = execute();
                self.state().held.push(Box::new(move || answer(reply, done)));
            }
            Verdict::Answer => {
                drop(state);
                answer(reply, execute());
            }
            Verdict::Fail(errno) => reply.refuse(Errno::from_i32(errno)),
            Verdict::Delay(time) => {
                std::thread::spawn(move || {
                    std::thread::sleep(time);
                    answer(reply, execute());
                });
            }
            Verdict::Serial(time) => {
                let done = state.take_turn(time);
                std::thread::spawn(move || {
                    std::thread::sleep(done.saturating_duration_since(Instant::now()));
                    answer(reply, execute());
                });
            }
        }
    }

    /// Executes a command and returns the answer for the control socket.
    pub fn command(&self, command: Command) -> String {
        let mut state = self.state();
        match command {
            Command::Add(rule) => {
                state.rules.push(rule);
                "ok".to_owned()
            }
            Command::Held => state.held.len().to_string(),
            Command::Trap { change, verdict } => {
                state.changes = 0;
                state.trap = Some((change, verdict));
                "ok".to_owned()
            }
            Command::Changes => state.changes.to_string(),
            Command::Requests { call, pattern } => {
                let rule = Rule { call, pattern, verdict: Verdict::Answer };
                let counts = state.requests.iter();
                let asked: u64 = counts
                    .filter(|((call, name), _)| rule.concerns(*call, name))
                    .map(|(_, count)| count)
                    .sum();
                asked.to_string()
            }
            Command::Release => {
                state.rules.clear();
                state.trap = None;
                let held = std::mem::take(&mut state.held);
                drop(state);
                for answer in held {
                    answer();
                }
                "ok".to_owned()
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic in one request leaves rules and list as they were.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

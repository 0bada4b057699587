//! Between a client and its payload: a thread of the measurer, whose descriptors no client closes.

use std::sync::mpsc::{Receiver, Sender, channel};

use iolag_model::{FailureCode, MonotonicTime};

use super::program::{PayloadEnd, PayloadProgram};

/// The thread that has a payload run when it is asked.
#[derive(Debug)]
pub struct PayloadServer {
    program: PayloadProgram,
    asked: Receiver<Sender<PayloadEnd>>,
}

/// Who asks it.
#[derive(Debug, Clone)]
pub struct PayloadAsker(Sender<Sender<PayloadEnd>>);

impl PayloadServer {
    /// With who asks it.
    pub fn new(program: PayloadProgram) -> (Self, PayloadAsker) {
        let (ask, asked) = channel();
        (Self { program, asked }, PayloadAsker(ask))
    }

    /// Runs it once, unless everybody who could ask is gone before; ends it when it `is_stopped`.
    pub fn serve(mut self, is_stopped: impl Fn() -> bool) {
        if let Ok(answer) = self.asked.recv() {
            // Whoever asked may have gone.
            let _ = answer.send(self.program.run(is_stopped));
        }
    }
}

impl PayloadAsker {
    /// Has it run, and waits for its end.
    pub(super) fn ask(&self) -> PayloadEnd {
        let (answer, answered) = channel();
        let is_asked = self.0.send(answer).is_ok();
        answered.recv().ok().filter(|_| is_asked).unwrap_or(PayloadEnd {
            code: FailureCode::ABANDONED,
            start: MonotonicTime(0),
            processor: None,
            said: None,
        })
    }
}

//! The connections that are open: a limited number, of which nobody can hold all.
//!
//! When all are taken, a new connection takes the place of the one on which nothing was asked for longest. Who opens many and
//! asks nothing, or asks a byte at a time, so pushes out his own; who connects and asks at once is never the oldest.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::task::{AbortHandle, spawn_local};

/// Connections that are open, of one thread.
#[derive(Debug)]
pub(in crate::serve) struct Connections {
    count_max: usize,
    open: RefCell<BTreeMap<u64, Open>>,
    /// How often a connection or a request has come so far.
    comings: Cell<u64>,
    closed: Notify,
}

#[derive(Debug)]
struct Open {
    /// The coming of its last whole request, or its own.
    last: u64,
    task: AbortHandle,
}

/// One of them; it is closed when this is dropped.
#[derive(Debug)]
pub(in crate::serve) struct Connection {
    number: u64,
    connections: Rc<Connections>,
}

impl Connections {
    /// None yet, and never more than `count_max`.
    pub(in crate::serve) fn new(count_max: usize) -> Rc<Self> {
        let (open, comings, closed) = <_>::default();
        Rc::new(Self { count_max, open, comings, closed })
    }

    /// Has a new connection answered, in the place of another if all are taken.
    pub(in crate::serve) fn open<F: Future<Output = ()> + 'static>(
        self: &Rc<Self>,
        answer: impl FnOnce(Rc<Connection>) -> F,
    ) {
        if self.open.borrow().len() >= self.count_max {
            self.push_out_one();
        }
        let number = self.coming();
        let connection = Rc::new(Connection { number, connections: Rc::clone(self) });
        let task = spawn_local(answer(connection)).abort_handle();
        self.open.borrow_mut().insert(number, Open { last: number, task });
    }

    /// Waits until none is open.
    pub(in crate::serve) async fn wait_for_end(&self) {
        while !self.open.borrow().is_empty() {
            self.closed.notified().await;
        }
    }

    fn coming(&self) -> u64 {
        self.comings.replace(self.comings.get() + 1)
    }

    fn push_out_one(&self) {
        let silent = self.open.borrow().iter().min_by_key(|(_, one)| one.last).map(|(number, _)| *number);
        if let Some(one) = silent.and_then(|number| self.open.borrow_mut().remove(&number)) {
            one.task.abort();
        }
    }
}

impl Connection {
    /// A whole request has come.
    pub(in crate::serve) fn asked(&self) {
        let coming = self.connections.coming();
        if let Some(one) = self.connections.open.borrow_mut().get_mut(&self.number) {
            one.last = coming;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.open.borrow_mut().remove(&self.number);
        self.connections.closed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::{LocalSet, yield_now};

    fn in_a_runtime(body: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        LocalSet::new().block_on(&runtime, body);
    }

    fn open_numbers(connections: &Connections) -> Vec<u64> {
        connections.open.borrow().keys().copied().collect()
    }

    #[test]
    fn the_one_that_asked_nothing_for_longest_goes() {
        in_a_runtime(async {
            let connections = Connections::new(3);
            let first = Rc::new(RefCell::new(None));
            let known = Rc::clone(&first);
            connections.open(async move |connection| {
                *known.borrow_mut() = Some(connection);
                std::future::pending().await
            });
            let open_one = || connections.open(|_| std::future::pending());
            open_one();
            open_one();
            yield_now().await;
            first.borrow().as_ref().unwrap().asked();
            open_one();
            assert_eq!(
                open_numbers(&connections),
                [0, 2, 4],
                "the first has asked since, which is the fourth coming"
            );
            open_one();
            assert_eq!(open_numbers(&connections), [0, 4, 5]);
            open_one();
            assert_eq!(open_numbers(&connections), [4, 5, 6]);
        });
    }

    #[test]
    fn the_end_of_all_is_waited_for() {
        in_a_runtime(async {
            let connections = Connections::new(3);
            connections.wait_for_end().await;
            let ended = Rc::new(Cell::new(0));
            for turns in [7, 2] {
                let ended = Rc::clone(&ended);
                connections.open(async move |_connection| {
                    for _ in 0..turns {
                        yield_now().await;
                    }
                    ended.set(ended.get() + 1);
                });
            }
            connections.wait_for_end().await;
            assert_eq!(ended.get(), 2);
        });
    }
}

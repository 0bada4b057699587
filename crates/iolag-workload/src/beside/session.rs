//! The session of a bystander: it makes its own file before it is asked for it, and lists a directory with the attributes of what is in it.

use std::any::Any;

use iolag_backend::{Completion, Mark, ObjectKey, Request, Session};
use iolag_model::{BystanderTask, ErrorClass, Operation, Standpoint};

/// The numbers of bystanders' objects: no load makes so many.
const FIRST: u64 = 1 << 62;
/// A client's own begin so far apart.
const APART_BITS: u32 = 32;
/// Bytes of a small file.
const FILE_BYTES: u64 = 4096;

/// The objects of one bystander.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Own {
    /// Its number among the bystanders.
    pub number: u32,
    /// The rank in whose first dataset it works.
    pub rank: u32,
}

impl Own {
    /// The largest object that is asked for.
    pub const BYTES_MAX: u64 = FILE_BYTES;

    /// The object that is there as long as it measures.
    pub fn kept(self) -> ObjectKey {
        self.created(0)
    }

    /// One that it creates, and removes at once.
    pub fn created(self, count: u64) -> ObjectKey {
        let index = FIRST + (u64::from(self.number) << APART_BITS) + count;
        ObjectKey { rank: self.rank, dataset: 0, index }
    }

    /// The one that the load works on in the same dataset.
    pub(super) const fn file_of_load(self) -> ObjectKey {
        ObjectKey { rank: self.rank, dataset: 0, index: 0 }
    }

    pub(super) const fn bytes_of(self, task: BystanderTask) -> u64 {
        match task {
            BystanderTask::Stat | BystanderTask::List => 0,
            BystanderTask::OpenRead | BystanderTask::Create => FILE_BYTES,
        }
    }
}

/// A bystander's session.
pub struct BystanderSession {
    inner: Box<dyn Session>,
    own: Own,
    standpoint: Standpoint,
    is_made: bool,
    /// Why what is asked for is not there.
    missing: Option<Completion>,
}

impl BystanderSession {
    /// One that stands there, through a session in the working place.
    pub const fn new(inner: Box<dyn Session>, own: Own, standpoint: Standpoint) -> Self {
        Self { inner, own, standpoint, is_made: false, missing: None }
    }

    fn ask(&mut self, request: &Request) -> Completion {
        self.inner.prepare(request);
        self.inner.execute(request)
    }

    /// Its own file, and its directory where that is none of the load's. What cannot be made is tried again the next time.
    fn make_own(&mut self) {
        if self.is_made || self.standpoint == Standpoint::File {
            return;
        }
        if self.standpoint != Standpoint::Directory {
            // Another bystander may have made it.
            let _ = self.ask(&Request::new(Operation::MakeDirectory, self.own.kept(), 0));
        }
        let made = self.ask(&Request::new(Operation::Create, self.own.kept(), FILE_BYTES));
        self.is_made = made.is_ok();
        self.missing = (!made.is_ok()).then_some(made);
    }

    /// As `ls -l`: the names, then the attributes of what is known to be there.
    fn list(&mut self, request: &Request) -> Completion {
        let listed = self.inner.execute(&Request { operation: Operation::List, ..*request });
        if !listed.is_ok() {
            return listed;
        }
        for key in [self.own.file_of_load(), self.own.kept()] {
            let asked = self.ask(&Request::new(Operation::Stat, key, 0));
            if !asked.is_ok() && asked.code.class() != ErrorClass::NotFound {
                return asked;
            }
        }
        listed
    }
}

#[deny(clippy::missing_trait_methods)]
impl Session for BystanderSession {
    fn prepare(&mut self, request: &Request) {
        self.missing = None;
        if request.operation != Operation::Delete {
            self.make_own();
        }
        let operation = match request.operation {
            Operation::ListWithAttributes => Operation::List,
            other => other,
        };
        self.inner.prepare(&Request { operation, ..*request });
    }

    fn execute(&mut self, request: &Request) -> Completion {
        match (self.missing, request.operation) {
            (Some(missing), _) => missing,
            (None, Operation::ListWithAttributes) => self.list(request),
            (None, _) => self.inner.execute(request),
        }
    }

    fn inspects(&self) -> bool {
        self.inner.inspects()
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        match (self.missing, request.operation) {
            (Some(_), _) | (None, Operation::ListWithAttributes) => completion,
            (None, _) => self.inner.inspect(request, completion),
        }
    }

    fn message(&mut self) -> Option<String> {
        self.inner.message()
    }

    fn marks(&self) -> &[Mark] {
        self.inner.marks()
    }

    /// The listing would be passed by.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_backend::{Backend, PosixBackend, SessionOptions, conformance};
    use iolag_model::ClientId;

    const OWN: Own = Own { number: 3, rank: 0 };

    fn session(backend: &PosixBackend, own: Own, standpoint: Standpoint) -> BystanderSession {
        let options = SessionOptions::new(ClientId(9), 9, 1, Own::BYTES_MAX);
        BystanderSession::new(backend.open_session(&options).unwrap(), own, standpoint)
    }

    fn ask(session: &mut BystanderSession, operation: Operation, key: ObjectKey) -> Completion {
        let request = Request::new(operation, key, 0);
        session.prepare(&request);
        session.execute(&request)
    }

    #[test]
    fn it_makes_its_own_file_once_there_is_a_directory_and_lists_what_is_there() {
        let root = tempfile::tempdir().unwrap();
        let backend = PosixBackend::new(root.path().to_owned(), "w").unwrap();
        backend.create_place(&conformance::maker()).unwrap();
        let mut bystander = session(&backend, OWN, Standpoint::Directory);
        let list = Operation::ListWithAttributes;
        let before = ask(&mut bystander, list, OWN.kept());
        assert_eq!(before.code.class(), ErrorClass::NotFound, "the load has made no directory yet");
        let mut load = session(&backend, OWN, Standpoint::File);
        assert!(ask(&mut load, Operation::MakeDirectory, ObjectKey::default()).is_ok());
        let listed = ask(&mut bystander, list, OWN.kept());
        assert_eq!(listed, Completion::ok(1), "its own file");
        assert!(ask(&mut load, Operation::Create, ObjectKey::default()).is_ok());
        assert_eq!(ask(&mut bystander, list, OWN.kept()), Completion::ok(2));
        assert!(ask(&mut bystander, Operation::Stat, OWN.kept()).is_ok());
        assert!(ask(&mut bystander, Operation::Delete, OWN.kept()).is_ok());
        assert_eq!(backend.remove_place().unwrap(), []);
    }

    #[test]
    fn beside_the_directory_of_the_load_it_makes_one_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let backend = PosixBackend::new(root.path().to_owned(), "w").unwrap();
        backend.create_place(&conformance::maker()).unwrap();
        let own = Own { number: 5, rank: 4 };
        // Two of them, in one directory.
        for number in [5, 6] {
            let own = Own { number, ..own };
            assert!(
                ask(&mut session(&backend, own, Standpoint::Sibling), Operation::Stat, own.kept()).is_ok()
            );
        }
        assert_eq!(std::fs::read_dir(root.path().join("w/4_0")).unwrap().count(), 2);
        assert_eq!(backend.remove_place().unwrap(), [], "it is removed with the place");
    }
}

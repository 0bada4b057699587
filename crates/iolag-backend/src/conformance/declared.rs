//! Rules about what kinds of targets do differently, and declare: one for each field of [`Semantics`] that is not about
//! places.

use std::sync::Arc;

use iolag_model::{ErrorClass, Operation, Verification};

use super::conversation::{Conversation, Form, Subject, declares, options, request};
use crate::{
    BackendError, Datasets, Descriptors, FullDataset, Inventory, MissingDelete, NameTable, ObjectKey,
    ObjectNames, Queue, Request, Semantics, SessionOpening, SessionOptions,
};

/// These come first: the other rules go by what is declared.
pub(super) fn run(subject: &Subject<'_>) {
    sessions_open_as_declared(subject);
    requests_are_in_flight_at_once_as_declared(subject);
    datasets_have_operations_as_declared(subject);
    for form in subject.forms() {
        datasets_are_made_or_implied_as_declared(subject, form);
        deleting_what_is_missing_is_as_declared(subject, form);
        a_full_dataset_is_removed_as_declared(subject, form);
        objects_have_names_as_declared(subject, form);
        a_session_needs_nothing_that_the_process_has_opened(subject, form);
        a_dropped_session_leaks_no_descriptor(subject, form);
    }
}

fn sessions_open_as_declared(subject: &Subject<'_>) {
    let declared = subject.semantics().opening;
    let is_asynchronous = match declared {
        SessionOpening::Blocking => false,
        SessionOpening::Asynchronous { at_once } => at_once > 0,
    };
    let backend = subject.backend();
    let options = options();
    let opens = backend.open_async_session(&options).is_some();
    assert_eq!(opens, is_asynchronous, "{declared:?} is declared, there is an asynchronous form: {opens}");
}

fn requests_are_in_flight_at_once_as_declared(subject: &Subject<'_>) {
    let declared = subject.semantics().queue;
    let has_lanes = subject.backend().open_lanes(&options(), 1).is_some();
    assert_eq!(
        has_lanes,
        declared != Queue::None,
        "{declared:?} is declared, there are sessions with lanes: {has_lanes}"
    );
}

fn datasets_have_operations_as_declared(subject: &Subject<'_>) {
    let (backend, semantics) = (subject.backend(), subject.semantics());
    let has = |operation| declares(backend.as_ref(), &[operation]);
    let (makes, removes) = (has(Operation::MakeDirectory), has(Operation::RemoveDirectory));
    let declared = (semantics.datasets, semantics.full_dataset);
    assert_eq!(
        makes,
        declared.0 == Datasets::Made,
        "{declared:?} is declared, mkdir is an operation: {makes}"
    );
    assert_eq!(
        removes,
        declared.1 != FullDataset::NotRemovable,
        "{declared:?} is declared, rmdir is an operation: {removes}"
    );
}

fn deleting_what_is_missing_is_as_declared(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let semantics = backend.capabilities().semantics;
    let declared = semantics.missing_delete;
    let answer = match declared {
        MissingDelete::NotFound => Err(ErrorClass::NotFound),
        MissingDelete::Succeeds => Ok(0),
    };
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    let elsewhere = ObjectKey { rank: 9, dataset: 9, index: 9 };
    for operation in [Operation::Delete, Operation::CallUnlink] {
        if declares(backend.as_ref(), &[operation]) {
            session.must_as(declared, request(operation, 5, 0), answer);
            session.must(request(Operation::Create, 5, 1));
            session.must(request(operation, 5, 0));
            session.must_as(declared, request(operation, 5, 0), answer);
            // A dataset that has to be made and is missing may be an error of its own.
            if semantics.datasets == Datasets::Implied || declared == MissingDelete::NotFound {
                session.must_as(declared, Request::new(operation, elsewhere, 0), answer);
            }
        }
    }
}

fn datasets_are_made_or_implied_as_declared(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let declared = backend.capabilities().semantics.datasets;
    let lists = declares(backend.as_ref(), &[Operation::List]);
    let mut session = Conversation::open(backend.as_ref(), form, &options());
    let missing = match declared {
        Datasets::Made => Err(ErrorClass::NotFound),
        Datasets::Implied => Ok(0),
    };
    let is_missing = |session: &mut Conversation| {
        if lists {
            session.must_as(declared, request(Operation::List, 0, 0), missing);
        }
        let counted = match backend.inventory(0, 0) {
            Ok(Inventory { objects, foreign: 0 }) => Ok(objects),
            Err(BackendError::Failed { class, .. }) => Err(class),
            other => panic!("the inventory of a missing dataset is {other:?}"),
        };
        assert_eq!(counted, missing, "{declared:?} is declared, the inventory of a missing dataset");
    };
    is_missing(&mut session);
    if declared == Datasets::Made {
        session.must_miss_dataset(request(Operation::Create, 0, 1));
        session.must(request(Operation::MakeDirectory, 0, 0));
        session.must_as(declared, request(Operation::MakeDirectory, 0, 0), Err(ErrorClass::Exists));
    }
    session.must_as(declared, request(Operation::Create, 0, 1), Ok(1));
    if declared == Datasets::Implied {
        session.must(request(Operation::Delete, 0, 0));
        is_missing(&mut session);
    }
}

fn a_full_dataset_is_removed_as_declared(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let semantics = backend.capabilities().semantics;
    let declared = semantics.full_dataset;
    let remove = request(Operation::RemoveDirectory, 0, 0);
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    session.must(request(Operation::Create, 0, 1));
    match declared {
        // Then it is no operation, which is asked elsewhere.
        FullDataset::NotRemovable => return,
        FullDataset::Kept => {
            session.must_as(declared, remove, Err(ErrorClass::NotEmpty));
            session.must_as(declared, request(Operation::Stat, 0, 1), Ok(0));
            session.must(request(Operation::Delete, 0, 0));
            session.must(remove);
        }
        FullDataset::RemovedWithContent => {
            session.must_as(declared, remove, Ok(0));
            session.must_as(declared, request(Operation::Stat, 0, 1), Err(ErrorClass::NotFound));
        }
    }
    if semantics.datasets == Datasets::Made {
        session.must_fail(remove, ErrorClass::NotFound);
        session.must_miss_dataset(request(Operation::Create, 0, 1));
    }
}

/// Two sessions whose tables give one name different numbers.
fn objects_have_names_as_declared(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let Semantics { objects: declared, datasets, .. } = backend.capabilities().semantics;
    // Where datasets are made, what stands before a slash is one.
    let other_name = if datasets == Datasets::Made { "another with parts" } else { "another/with parts" };
    drop(Conversation::with_dataset(backend.as_ref(), form));
    let open = |names: &[&str]| {
        let mut table = NameTable::default();
        for name in names {
            table.push(name);
        }
        let verification = Verification::Length;
        let options = SessionOptions { verification, names: Some(Arc::new(table)), ..options() };
        Conversation::open(backend.as_ref(), form, &options)
    };
    let (mut session, mut other) = (open(&["one", other_name]), open(&[other_name]));
    let named = |operation, index, bytes| Request::new(operation, ObjectKey::named(index), bytes);
    if declared == ObjectNames::Numbered {
        for operation in [Operation::Create, Operation::Read, Operation::Stat, Operation::Delete] {
            let completion = session.ask(named(operation, 0, 1));
            assert!(!completion.is_ok(), "{declared:?} is declared, {operation} of a named object succeeded");
        }
        return;
    }
    session.must_as(declared, named(Operation::Create, 1, 3901), Ok(3901));
    session.must_as(declared, named(Operation::Stat, 0, 1), Err(ErrorClass::NotFound));
    other.must_as(declared, named(Operation::Stat, 0, 3901), Ok(0));
    other.must_as(declared, named(Operation::Read, 0, Request::TO_THE_END), Ok(3901));
    // Nothing has this number.
    other.must_as(declared, named(Operation::Read, 1, 1), Err(ErrorClass::NotFound));
    let counted = backend.inventory(0, 0).expect("a dataset that was made can be counted");
    assert_eq!(counted, Inventory::default(), "an object with a name is in no dataset");
    other.must(named(Operation::Delete, 0, 0));
    session.must_as(declared, named(Operation::Stat, 1, 3901), Err(ErrorClass::NotFound));
}

fn a_session_needs_nothing_that_the_process_has_opened(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    if backend.capabilities().semantics.descriptors == Descriptors::Shared {
        return;
    }
    in_a_table_of_its_own(|| {
        // SAFETY: the table is this thread's; what is closed in it stays open in that of the process.
        unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
        let mut session = Conversation::with_dataset(backend.as_ref(), form);
        session.must(request(Operation::Create, 0, 10));
        session.must(request(Operation::Read, 0, 10));
        session.must(request(Operation::Delete, 0, 0));
    });
}

/// Counted in a thread with a descriptor table of its own, as a client has it: other tests open and close files meanwhile.
fn a_dropped_session_leaks_no_descriptor(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    drop(Conversation::with_dataset(backend.as_ref(), form));
    in_a_table_of_its_own(|| {
        let before = open_descriptors();
        for _ in 0..20 {
            let mut session = Conversation::open(backend.as_ref(), form, &options());
            session.must(request(Operation::Create, 0, 10));
            // What these leave open is closed with the session.
            session.ask(request(Operation::CallOpen, 0, 10));
            session.ask(request(Operation::StreamWrite, 1, 10));
            session.ask(request(Operation::StreamRead, 2, 10));
        }
        assert_eq!(before, open_descriptors(), "descriptors open before and after 20 sessions");
    });
}

fn in_a_table_of_its_own(rule: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let obeyed = scope.spawn(|| {
            // SAFETY: the thread leaves the shared table; it has no descriptor that anybody else will close.
            unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FILES) }
                .expect("a thread may always have a descriptor table of its own");
            rule();
        });
        obeyed.join().unwrap_or_else(|broken| std::panic::resume_unwind(broken));
    });
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/thread-self/fd").map(Iterator::count).expect("/proc lists one's own descriptors")
}

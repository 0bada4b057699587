//! Tags that processes of a run ask for.

use iolag_keeper::TAGS_MAX;

use super::*;

#[test]
fn no_two_processes_of_a_run_get_the_same_tag_and_in_the_end_there_is_none() {
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let taken = |exchange: &Exchange| std::iter::from_fn(|| exchange.next_tag()).count();
    let first = exchange.next_tag();
    let mut child = Child::fork("measurer", Orphanage::Die, || {
        let given: Vec<_> = (0..3).map(|_| exchange.next_tag()).collect();
        i32::from(given != [Some(2), Some(3), Some(4)])
    })
    .unwrap();
    assert_eq!((first, child.wait(LIMIT)), (Some(1), Some(Ending::Exited(0))));
    assert_eq!(exchange.next_tag(), Some(5));
    assert!(!exchange.lacked_tags());
    assert_eq!(taken(&exchange), usize::from(TAGS_MAX) - 5);
    assert!(exchange.lacked_tags(), "one more was asked for");
    assert_eq!(exchange.next_tag(), None);
}

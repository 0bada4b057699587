//! Streams and trees side by side: what stands below the table, and trees that are not the same.

use std::fs;
use std::path::Path;

use super::compared;
use crate::user::{User, text};

#[test]
fn streams_are_compared_by_throughput_with_their_processors_and_caches() {
    let user = User::new();
    // Of phases of less than 5 ms no share of the processors is told.
    let slow = |name: &str| format!("delayed:stream.write=8ms,stream.read=8ms:{}", user.directory(name));
    let (one, other) = (slow("one"), slow("other"));
    let words = ["bench", "stream", &one, &other, "-s", "1MiB", "--caches", "cold", "--repeat", "2", "-q"];
    let ended = user.fine(&words).output;
    let said = user.fine(&["compare", "campaign:last"]).output;
    let document = compared(&user, &["campaign:last"]);
    assert_eq!((text(&document, "workload"), text(&document, "value")), ("stream", "throughput"));
    let beside = document["beside"].as_array().unwrap();
    let told: Vec<&str> = beside.iter().map(|one| text(one, "what")).collect();
    assert_eq!(told, ["processors", "processors", "caches-dropped"], "{document:#}");
    for one in beside {
        let sides = one["of"].as_array().unwrap();
        assert_eq!(sides.iter().map(|side| side["runs"].as_u64()).collect::<Vec<_>>(), [Some(2); 2], "{one}");
        assert!(sides.iter().all(|side| side["least"].as_f64() <= side["most"].as_f64()), "{one}");
    }
    for expected in ["processor time of elapsed, stream.read", "dropping caches took"] {
        assert!(said.contains(expected) && ended.contains(expected), "{expected}: {said}");
    }
    let markdown = user.fine(&["compare", "campaign:last", "--format", "markdown"]).output;
    assert!(markdown.contains("| dropping caches took | "), "{markdown}");
    let page = user.path("page.html").display().to_string();
    user.fine(&["compare", "campaign:last", "--report", &page, "-q"]);
    assert!(fs::read_to_string(&page).unwrap().contains(">dropping caches took</th>"));
}

#[test]
fn trees_that_differ_are_told_above_the_table() {
    let user = User::new();
    let (one, other) = (user.directory("one"), user.directory("other"));
    for tree in [&one, &other] {
        for number in 0..5 {
            fs::write(Path::new(tree).join(format!("file-{number}")), "content").unwrap();
        }
    }
    let measured = || {
        user.fine(&["bench", "tree", &one, &other, "-q"]);
        user.fine(&["compare", "campaign:last"]).output
    };
    assert!(!measured().contains("differ: "), "equal trees are worth no word");
    fs::write(Path::new(&other).join("file-3"), "CONTENT").unwrap();
    let said = measured();
    assert!(said.contains("he trees differ: checksum "), "{said}");
    fs::write(Path::new(&other).join("file-5"), "one more").unwrap();
    let said = measured();
    assert!(said.contains("he trees differ: 5 files (…/one), 6 files (…/other)."), "{said}");
    assert!(!said.contains("checksum"), "the numbers say it: {said}");
}

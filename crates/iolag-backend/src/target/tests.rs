//! Which texts are targets, and that what is shown of them holds no secret.

use iolag_model::SimulatedClock;
use proptest::prelude::*;

use super::*;

fn described(target: &Target) -> (&'static str, String) {
    let backend = target.backend("iolag-work", Arc::new(SimulatedClock::default())).unwrap();
    let description = backend.describe();
    (description.kind, description.target)
}

#[test]
fn every_form_of_target_is_known() {
    for (text, kind, shown) in [
        ("/scratch/me", "posix", "/scratch/me"),
        ("posix:/scratch/a:b", "posix", "/scratch/a:b"),
        ("/scratch/a:b", "posix", "/scratch/a:b"),
        ("memory:", "memory", "memory:"),
        ("delayed:5ms~exp,stat=1ms:memory:", "delayed", "delayed:5ms~exp,stat=1ms:memory:"),
        ("delayed:5ms:/a:b", "delayed", "delayed:5ms:/a:b"),
        ("delayed:5ms:posix:/a:b", "delayed", "delayed:5ms:/a:b"),
        (
            "faulty:stat:eio@0.1,hang@#1000:delayed:5ms:/a,b@c:d",
            "faulty",
            "faulty:stat:eio@0.1,hang@#1000:delayed:5ms:/a,b@c:d",
        ),
    ] {
        let target = Target::parse(text).unwrap();
        assert_eq!((target.kind(), target.to_string().as_str()), (kind, shown));
        assert_eq!(described(&target), (kind, shown.to_owned()));
        let backend = target.backend("iolag-work", Arc::new(SimulatedClock::default())).unwrap();
        assert_eq!(target.semantics(), backend.capabilities().semantics, "{text}");
    }
}

#[cfg(feature = "mongodb")]
#[test]
fn a_database_of_mongodb_is_a_target_and_shows_no_password() {
    let target = Target::parse("delayed:5ms:mongodb://me:geheim@a,b:1/base?w=1#collections=dataset").unwrap();
    assert!(target.is_server());
    assert_eq!(target.to_string(), "delayed:5ms:mongodb://me:***@a,b:1/base?w=1#collections=dataset");
    assert_eq!(described(&target).1, target.to_string());
    let settled = target.with_settings(&[("ca-file".to_owned(), "/a,b".to_owned())]);
    assert!(settled.to_string().ends_with("#collections=dataset,ca-file=/a%2Cb"), "{settled}");
    let stored = Target::parse(&target.to_string()).unwrap();
    assert_eq!(stored.to_string(), target.to_string());
}

#[test]
fn the_directory_is_the_one_that_was_named_whatever_is_around_it() {
    for (text, directory) in [
        ("/a", Some("/a")),
        ("x/a:b", Some("x/a:b")),
        ("./s3:x", Some("./s3:x")),
        ("posix:/a:b", Some("/a:b")),
        ("posix:s3://x", Some("s3://x")),
        ("a b:c\nd", Some("a b:c\nd")),
        ("delayed:1us:x/a:b", Some("x/a:b")),
        ("delayed:1us:posix:a:b", Some("a:b")),
        ("faulty:stat:eio@0.1:x/a:b", Some("x/a:b")),
        ("faulty:eio@0.1::a:b:", Some(":a:b:")),
        ("delayed:5ms:faulty:stat:eio@0.1,hang@#9:delayed:1us:/a:b@c,d:e", Some("/a:b@c,d:e")),
        ("memory:", None),
        ("delayed:5ms:memory:", None),
    ] {
        let target = Target::parse(text).unwrap();
        assert_eq!(target.directory(), directory.map(Path::new), "{text}");
    }
}

#[test]
fn another_directory_keeps_what_is_around_it() {
    for (text, expected) in [
        ("x/a:b", "/home/x/a:b"),
        ("posix:a:b", "/home/x/a:b"),
        ("delayed:1us:./a:b/c", "delayed:1us:/home/x/a:b"),
        ("faulty:stat:eio@0.1:delayed:5ms:posix:c", "faulty:stat:eio@0.1:delayed:5ms:/home/x/a:b"),
    ] {
        let moved = Target::parse(text).unwrap().with_directory(Path::new("/home/x/a:b"));
        assert_eq!(moved.to_string(), expected);
        assert_eq!(moved.directory(), Some(Path::new("/home/x/a:b")));
    }
}

#[test]
fn an_error_is_one_sentence_with_what_was_expected() {
    // In a build with it, too: there the tests are run.
    assert!(unknown("mongodb").contains("built without MongoDB; use one built with the feature mongodb"));
    for (text, expected) in [
        ("gsiftp://host/x", "this build has no backend for gsiftp targets; it measures a directory"),
        ("delayed:1ms:root://host/x", "this build has no backend for root targets"),
        ("mongodb+srv://host/x", "as mongodb://HOST1,HOST2/DATABASE?replicaSet=NAME&tls=true"),
        #[cfg(feature = "mongodb")]
        ("mongodb://host", "it names no database"),
        ("delayed:1ms:s3:bucket", "expected s3://BUCKET/PREFIX"),
        ("postgres:me@host/x", "expected postgres://USER@HOST/DATABASE"),
        ("ftp://host/", "\"ftp\" is no kind of target; this build measures a directory"),
        ("memory:x", "expected nothing after memory:"),
        ("delayed:5ms", "after the delays there is no target"),
        ("delayed:5:memory:", "\"5\" is not a duration"),
        ("faulty:eio@2:memory:", "in rule 1, \"2\" after @"),
        ("posix:", "expected the path of a directory"),
        ("delayed:5ms:", "expected the path of a directory"),
        ("", "expected the path of a directory"),
        ("/a\0b", "a path has no NUL in it"),
    ] {
        let error = Target::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(error.starts_with("cannot understand the target"), "{error}");
    }
    assert!(Target::parse(&("delayed:0s:".repeat(DEPTH_MAX) + "memory:")).is_ok());
    let deep = Target::parse(&("delayed:0s:".repeat(100_000) + "memory:")).unwrap_err();
    assert!(deep.to_string().ends_with("more than 8 wrappers around each other"));
}

#[test]
fn a_working_name_that_is_a_path_is_refused() {
    let target = Target::parse("/a").unwrap();
    assert!(target.backend("../b", Arc::new(SimulatedClock::default())).is_err());
}

#[test]
fn an_error_does_not_repeat_a_password() {
    for text in [
        "postgres://me:hunter2@host:x/db",
        "delayed:hunter2://a:hunter2@b",
        "faulty:eio@0.1:s3://a:hunter2@b?x",
    ] {
        let error = Target::parse(text).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("me:hunter2") && !shown.contains("a:hunter2"), "{shown}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_what_is_shown_is_the_same_target(
        text in "((delayed|faulty|posix|memory|s3|x):(//)?([a-z0-9=~@#,./]{0,12}:?)){0,5}|\\PC{0,60}|\
                 ((delayed:(1us|stat=5ms~exp)|faulty:(stat:)?(eio|hang)@#?1(,short@0[.]5)?|posix):){0,4}\
                 (memory:|[a-z:@/, ]{1,12}|/\\PC{1,20})"
    ) {
        if let Ok(target) = Target::parse(&text) {
            let shown = target.to_string();
            prop_assert!(!described(&target).1.is_empty());
            prop_assert_eq!(format!("{target:?}"), format!("Target({shown:?})"));
            if shown == target.with_secrets() {
                prop_assert_eq!(Target::parse(&shown).unwrap(), target);
            }
        }
    }

    #[test]
    fn no_secret_is_shown(
        wrappers in "(delayed:1us:|faulty:stat:eio@0[.]1:){0,3}",
        password in "[A-Za-z0-9%+!~^]{8,20}",
        host in "[a-z]{1,8}",
    ) {
        // Until there are backends with passwords, only a path can look as if it had one.
        let text = format!("{wrappers}/x/s3://me:{password}@{host}/p?token={password}");
        let target = Target::parse(&text).unwrap();
        prop_assert_eq!(target.with_secrets(), text);
        for shown in [target.to_string(), format!("{target:?}"), format!("{target:#?}")] {
            prop_assert!(!shown.contains(&password), "{}", shown);
        }
        for refused in ["s3", "postgres", "ftp"] {
            let text = format!("{wrappers}{refused}://me:{password}@{host}/p?token={password}");
            let error = Target::parse(&text).unwrap_err();
            let shown = format!("{error} {error:?}");
            prop_assert!(!shown.contains(&password), "{}", shown);
        }
    }
}

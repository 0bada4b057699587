//! Rescued runs that the store does not take in, or not yet.

use super::*;

#[test]
fn another_store_does_not_take_it_and_the_same_one_does_under_every_name() {
    let scene = Scene::new();
    let places = [scene.path("memory")];
    let other = Store::open(&scene.path("other")).unwrap().with_places(&places);
    assert!(other.list().unwrap().is_empty() && adopt(&other, |_| false).unwrap().is_empty());
    // A copy of the whole store is another one; so is what has only the name of the old one.
    std::fs::rename(scene.path("store"), scene.path("moved")).unwrap();
    let impostor = Store::open(&scene.path("store")).unwrap().with_places(&places);
    assert!(impostor.list().unwrap().is_empty() && adopt(&impostor, |_| false).unwrap().is_empty());
    std::os::unix::fs::symlink(scene.path("moved"), scene.path("link")).unwrap();
    let linked = Store::open(&scene.path("link")).unwrap().with_places(&places);
    assert!(matches!(adopt(&linked, |_| false).unwrap()[0].result, Ok(Adoption::Adopted { .. })));
    assert!(linked.find("last").unwrap().samples().unwrap().count() == OF_RUN);
}

#[test]
fn what_is_not_certain_is_left_and_told_and_still_what_counts() {
    let scene = Scene::new();
    let whole = RunState::Complete;
    scene.rescue(whole.clone(), |record| record.environment.boot_id = Some("another boot".into()));
    let mut stump = scene.stump().record().unwrap();
    stump.environment.boot_id = Some("another boot".into());
    scene.stump().write_record(&stump).unwrap();
    assert_eq!(scene.left(), "it was rescued before this machine was restarted, or on another");
    assert!(scene.truth().0 == everything());
    stump.environment.boot_id = boot_id();
    scene.stump().write_record(&stump).unwrap();

    scene.rescue(whole.clone(), |record| record.rescue.as_mut().unwrap().only_in_store = 7);
    assert_eq!(scene.left(), "the store may have samples of it that are not there");
    assert!(scene.truth().0 == everything());

    // Its keeper is still at work on it: nothing is done, and nothing said.
    scene.rescue(whole.clone(), |_| {});
    assert!(adopt(&scene.store(), |_| true).unwrap().is_empty());

    // The rescue was not completed, and the store may have more.
    let unfinished = RunState::Running { keeper_pid: u32::MAX, keeper_start_ticks: 1, spool: None };
    scene.rescue(unfinished, |_| {});
    assert!(recover(&scene.store(), |_| false).unwrap().iter().all(|run| run.result.is_ok()));
    assert_eq!(scene.left(), "the rescue was not completed, and the store may have what is missing there");
    assert!(scene.truth().0 == everything(), "the one with more samples counts");
    let RunState::Recovered { reason } = scene.store().find("last").unwrap().record().unwrap().state else {
        panic!("it should say recovered")
    };
    assert!(reason.starts_with("iolag ended while it rescued the run"), "{reason}");
}

#[test]
fn samples_that_are_missing_keep_the_stump_only_as_long_as_it_may_have_them() {
    let scene = Scene::new();
    let lacking = || {
        let state = RunState::Incomplete { reason: "7 samples are missing: recorded, but not stored".into() };
        scene.rescue(state, |record| record.rescue.as_mut().unwrap().only_in_store = 7);
    };
    lacking();
    let spool = |scene: &Scene| scene.stump().open_spool(&scene.stump().record().unwrap()).unwrap();
    assert_eq!(scene.left(), "the store may have samples of it that are not there");
    assert_eq!(spools(&spool(&scene).unwrap()).unwrap(), [SpoolNumber(0)]);
    // A store that has none of them has nothing to wait for: memory is no place to stay.
    scene.stump().remove_spool().unwrap();
    assert!(matches!(scene.adopt()[0].result, Ok(Adoption::Adopted { .. })));
    lacking();
    scene.store().remove_run(&run_id(1), |_| false).unwrap();
    lacking();
    assert!(matches!(scene.adopt()[0].result, Ok(Adoption::Adopted { .. })));
    assert!(scene.truth().0 == everything() && !scene.path("memory").exists());
}

#[test]
fn a_run_of_an_earlier_boot_is_not_said_to_have_been_ended_by_it() {
    let scene = Scene::new();
    std::fs::remove_dir_all(scene.path("memory")).unwrap();
    let mut stump = scene.stump().record().unwrap();
    stump.environment.boot_id = Some("another boot".into());
    scene.stump().write_record(&stump).unwrap();
    let recovered = recover(&scene.store(), |_| false).unwrap();
    let Ok(Recovery::Encoded { reason, .. }) = &recovered[0].result else { panic!("{recovered:?}") };
    let expected = "iolag ended without closing the run, and the machine was restarted since; ";
    assert!(reason.starts_with(expected), "{reason}");
}

#[test]
fn who_looks_whether_a_run_is_to_be_recovered_does_not_keep_its_writer_out() {
    let scene = Scene::new();
    let run = scene.stump();
    let looked = recover_run(&run, |_| run.lock().is_ok()).unwrap();
    assert_eq!(looked, Recovery::Nothing, "the lock was taken from the writer of a living run");
}

#[test]
fn a_complete_run_is_never_replaced() {
    let scene = Scene::new();
    let run = scene.stump();
    let mut record = run.record().unwrap();
    record.state = RunState::Complete;
    close(&run, &mut record);
    assert_eq!(scene.left(), "the store has it, closed by its keeper, with other samples");
    assert_eq!(scene.truth().0.len(), OF_STUMP);
    // Nor is one that only has the name.
    record.anchors[0].realtime_ns += 1;
    record.state = RunState::Recovered { reason: "restarted".into() };
    run.write_record(&record).unwrap();
    assert_eq!(scene.left(), "the store has another run of this name");
    assert!(scene.path("memory").exists());
}

#[test]
fn what_cannot_be_read_is_neither_adopted_nor_recovered_nor_replaced() {
    let scene = Scene::new();
    // A directory in the place of the file answers every read with an error, also to root.
    let rescued = scene.store().rescued(&run_id(1)).remove(0).run;
    std::fs::rename(rescued.path().join("run.json"), scene.path("kept")).unwrap();
    std::os::unix::fs::symlink(scene.path("kept"), rescued.path().join("run.json")).unwrap();
    assert!(scene.adopt().is_empty());
    assert!(recover(&scene.store(), |_| false).unwrap().is_empty(), "nobody knows what was rescued");
    assert!(matches!(scene.stump().record().unwrap().state, RunState::Running { .. }));
    std::fs::rename(scene.path("kept"), rescued.path().join("run.json")).unwrap();

    for (text, expected) in [("{", "is damaged"), (r#"{"format": "99.0"}"#, "newer format (99.0)")] {
        std::fs::write(scene.stump().path().join("run.json"), text).unwrap();
        let why = scene.left();
        assert!(why.contains("it is not known what the store has of it") && why.contains(expected), "{why}");
        assert!(scene.truth().0 == everything());
        assert!(scene.store().list().unwrap()[0].record.is_ok());
    }
}

#[test]
fn a_store_without_room_stays_as_it_is() {
    let Some(small) = iolag_fixtures::TmpfsMount::new(256 << 10) else { return };
    let scene = Scene::new();
    std::fs::rename(scene.path("store"), scene.path("moved")).unwrap();
    std::os::unix::fs::symlink(small.path(), scene.path("store")).unwrap();
    scene.rescue(RunState::Complete, |_| {});
    small.fill().unwrap();
    let error = scene.adopt().remove(0).result.unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(scene.truth().0 == everything());
    let filling =
        std::fs::read_dir(small.path()).unwrap().flatten().find(|entry| entry.path().is_file()).unwrap();
    std::fs::remove_file(filling.path()).unwrap();
    assert!(matches!(scene.adopt()[0].result, Ok(Adoption::Adopted { .. })));
}

#[test]
fn a_store_that_the_run_itself_filled_has_room_for_it() {
    for (lacking, fits) in [(0, true), (1, false)] {
        let Some(small) = iolag_fixtures::TmpfsMount::new(256 << 10) else { return };
        let scene = Scene::new();
        std::fs::rename(scene.path("store"), scene.path("moved")).unwrap();
        std::os::unix::fs::symlink(small.path(), scene.path("store")).unwrap();
        let mut record = scene.record(&scene.store());
        record.rescue = None;
        // Nothing in it that the rescued run has not.
        spool(&scene.store().create_run(&record).unwrap(), OF_RUN);
        scene.rescue(RunState::Complete, |record| record.rescue.as_mut().unwrap().only_in_store = lacking);
        small.fill().unwrap();
        let adopted = scene.adopt().remove(0).result.unwrap();
        assert_eq!(matches!(adopted, Adoption::Adopted { .. }), fits, "{adopted:?}");
        assert_eq!(scene.truth().1.starts_with(small.path()), fits);
        assert!(scene.truth().0 == everything());
    }
}

#[test]
fn a_stump_whose_rescued_run_is_gone_says_where_it_was() {
    let scene = Scene::new();
    let run = scene.stump();
    run.write_record(&scene.record(&scene.store())).unwrap();
    std::fs::remove_dir_all(scene.path("memory")).unwrap();
    let recovered = recover(&scene.store(), |_| false).unwrap();
    let Ok(Recovery::Encoded { samples, reason }) = &recovered[0].result else { panic!("{recovered:?}") };
    assert_eq!(*samples, OF_STUMP as u64);
    let place = scene.path("memory");
    assert!(
        reason.starts_with(&format!(
            "no space left; the run was rescued to {} on login1, and is not there any more; what the store had not taken is lost",
            place.display()
        )),
        "{reason}"
    );
}

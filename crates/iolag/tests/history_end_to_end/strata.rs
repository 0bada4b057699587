//! By levels of what was measured beside it, within the hour of the week, and with another tolerance.

use serde_json::Value;

use crate::study::{SLOTS, Study};
use crate::user::{LOGIN_NODE, User, assert_refused, series_of};

fn study() -> (User, Study) {
    let (user, study) = (User::new(), Study::new());
    user.import_study(&study, LOGIN_NODE);
    (user, study)
}

fn median(level: &Value) -> f64 {
    let quantiles = level["quantiles"].as_array().unwrap();
    let median = quantiles.iter().find(|quantile| quantile["q"].as_f64() == Some(0.5)).unwrap();
    median["value"]["exactly"].as_f64().unwrap()
}

#[test]
fn creating_takes_longer_while_the_load_is_high() {
    let (user, study) = study();
    let document = user.document(&[]);
    let strata = series_of(&document, "create", "/home")["by_covariate"].as_array().unwrap();
    let [by_load] = &strata[..] else { panic!("{strata:?}") };
    assert_eq!((&by_load["covariate"]["task"], &by_load["left_out"]), (&"load average".into(), &0.into()));
    let levels = by_load["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 3);
    let (create, load) = (study.home.column("create"), study.home.column("load average"));
    let mut counted = 0;
    for level in levels {
        // The same, picked from what the script wrote.
        let [least, greatest] = ["least_value", "greatest_value"].map(|name| level[name].as_f64().unwrap());
        let within = |hundredths: u64| (least..=greatest).contains(&(hundredths as f64 / 100.0));
        let mut picked: Vec<u64> = (0..SLOTS)
            .filter(|slot| within(load.hundredths[*slot]))
            .map(|slot| create.hundredths[slot])
            .collect();
        picked.sort_unstable();
        counted += picked.len();
        assert!(picked.len() > SLOTS / 4, "{}", picked.len());
        assert_eq!(median(level), picked[(picked.len() - 1) / 2] as f64 / 100.0);
    }
    assert_eq!(counted, SLOTS, "every attempt has a level and no more than one");
    assert!(median(&levels[0]) < median(&levels[1]) && median(&levels[1]) < median(&levels[2]));
    // Measured five minutes later, with the load that is nearest.
    let in_scratch = &series_of(&document, "create", "/scratch")["by_covariate"][0];
    assert_eq!(in_scratch["levels"].as_array().unwrap().len(), 3);

    let text = user.fine(&["show", "history"]).stdout;
    assert!(text.contains("By load average ("), "{text}");
    assert!(text.contains("Two places compared (") && text.contains("/home & /scratch"), "{text}");
    user.fine(&["report", "history", "-o", "page.html"]);
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    assert!(page.contains("<caption>By load average</caption>"));
}

#[test]
fn places_may_be_compared_within_the_hours_of_the_week() {
    let (user, _) = study();
    for (more, expected) in [(&[][..], "no"), (&["--stratify", "hour-of-week"], "hour-of-week")] {
        let document = user.document(more);
        let compared = document["comparisons"].as_array().unwrap();
        assert_eq!(compared.len(), 3);
        for one in compared {
            assert_eq!(one["comparison"]["strata"]["by"], expected, "{more:?}");
        }
    }
    // A week does not have each of its hours twice.
    let short = ["--until", "2008-05-01", "--stratify", "hour-of-week"];
    let compared = user.document(&short)["comparisons"].clone();
    assert_eq!(compared[0]["comparison"]["strata"]["asked"], "hour-of-week");
    assert_eq!(compared[0]["comparison"]["strata"]["by"], "no");
    let told = |more: &[&str]| {
        let text = user.fine(&[&["show", "history"][..], more].concat()).stdout;
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains("comparisons could not be made within")
    };
    assert!(told(&short) && !told(&short[..2]));
    let done = user.scene.run(&["show", "--stratify", "hour-of-week"]);
    assert_refused(&done, 2, &["--stratify is for the history"]);
}

#[test]
fn what_was_measured_minutes_apart_goes_together_only_within_the_tolerance() {
    let (user, _) = study();
    let pairs = |more: &[&str]| {
        let document = user.document(more);
        let pairs = document["correlations"]["pairs"].as_array().unwrap().clone();
        let target = |side: &Value| side["series"]["target"].as_str().unwrap().to_owned();
        let is_apart =
            |pair: &&Value| [target(&pair["left"]), target(&pair["right"])] == ["/home", "/scratch"];
        (pairs.iter().filter(is_apart).count(), pairs.len())
    };
    let (apart, all) = pairs(&[]);
    assert_eq!(apart, 9);
    let (apart, rest) = pairs(&["--tolerance", "1min"]);
    assert_eq!((apart, all - rest >= 9), (0, true));
    assert_eq!(pairs(&["--tolerance", "6min"]), (9, all));
    let done = user.scene.run(&["report", "--tolerance", "1min", "3fa7"]);
    assert_refused(&done, 2, &["--tolerance is for the history"]);
}

//! Which form of the metrics a scraper wants, from its Accept header (RFC 9110, 12.5.1).

use iolag_report::MetricsForm;

/// The acceptable form with the highest weight; of equal ones that with the most in it. Who accepts nothing of ours, or says
/// nothing, gets the oldest form, which everybody reads.
pub(in crate::serve) fn form_for(accept: Option<&str>) -> MetricsForm {
    let Some(accept) = accept else { return MetricsForm::Prometheus };
    let wanted: Vec<(&str, u16)> = accept.split(',').map(range_and_weight).collect();
    let mut best = (MetricsForm::Prometheus, 0);
    for form in MetricsForm::ALL {
        let weights = wanted.iter().filter(|(range, _)| is_meant(range, form)).map(|(_, weight)| *weight);
        let weight = weights.max().unwrap_or(0);
        if weight > best.1 {
            best = (form, weight);
        }
    }
    best.0
}

/// A media range with its parameters, and its weight in thousandths.
fn range_and_weight(part: &str) -> (&str, u16) {
    let weight = part.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse::<f64>().ok())?
    });
    (part.trim(), (weight.unwrap_or(1.0).clamp(0.0, 1.0) * 1000.0) as u16)
}

fn is_meant(range: &str, form: MetricsForm) -> bool {
    let lower = range.to_ascii_lowercase();
    let mut parts = lower.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    let parameter = |wanted: &str| {
        let mut parameters = lower.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
        parameters.find(|(name, _)| name.trim() == wanted).map(|(_, value)| value.trim().trim_matches('"'))
    };
    match form {
        MetricsForm::Protobuf => {
            media_type == "application/vnd.google.protobuf"
                && parameter("proto").is_none_or(|proto| proto == "io.prometheus.client.metricfamily")
                && parameter("encoding") == Some("delimited")
        }
        MetricsForm::OpenMetrics => {
            media_type == "application/openmetrics-text"
                && parameter("version").is_none_or(|version| version.starts_with("1."))
        }
        MetricsForm::Prometheus => matches!(media_type, "text/plain" | "text/*" | "*/*"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scrapers_get_what_they_ask_for() {
        const TEXT: &str = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                            text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        const PROTOBUF: &str =
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
        for (accept, form) in [
            (None, MetricsForm::Prometheus),
            (Some("*/*"), MetricsForm::Prometheus),
            (
                Some("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
                MetricsForm::Prometheus,
            ),
            (Some("application/json"), MetricsForm::Prometheus),
            (Some(TEXT), MetricsForm::OpenMetrics),
            (Some("application/openmetrics-text;version=2.0.0,text/plain;q=0.1"), MetricsForm::Prometheus),
            (Some("application/openmetrics-text;q=0, text/plain;q=0.2"), MetricsForm::Prometheus),
            (
                Some("Application/OpenMetrics-Text; version=\"1.0.0\"; q=0.3, text/plain; q=0.2"),
                MetricsForm::OpenMetrics,
            ),
            (Some(PROTOBUF), MetricsForm::Protobuf),
            (Some("application/vnd.google.protobuf;encoding=text,text/plain;q=0.1"), MetricsForm::Prometheus),
        ] {
            assert_eq!(form_for(accept), form, "{accept:?}");
        }
        assert_eq!(form_for(Some(&format!("{PROTOBUF},{TEXT}"))), MetricsForm::Protobuf);
        assert_eq!(form_for(Some(&format!("{PROTOBUF};q=0.4,{TEXT}"))), MetricsForm::OpenMetrics);
    }

    proptest! {
        #[test]
        fn any_header_has_a_form(accept in "[ -~]{0,200}") {
            let _ = form_for(Some(&accept));
        }
    }
}

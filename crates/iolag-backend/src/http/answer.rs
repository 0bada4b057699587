//! What a web server answered.

#[cfg(feature = "s3")]
use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{CONTENT_LENGTH, HeaderName, LOCATION, RETRY_AFTER, SERVER};
use hyper::http::response::Parts;
use iolag_model::{FailureCode, Nanoseconds};

/// An answer, without what was in it. What its head says is read when somebody wants to know.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// The status.
    pub status: u16,
    /// How much came.
    pub bytes: u64,
    headers: HeaderMap,
}

impl Answer {
    pub(super) fn of(head: Parts) -> Self {
        Self { status: head.status.as_u16(), bytes: 0, headers: head.headers }
    }

    fn text(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// How long the object is, as the server says.
    pub(crate) fn length(&self) -> Option<u64> {
        self.text(CONTENT_LENGTH)?.parse().ok()
    }

    /// What a server asks to wait before the next request, as it says it.
    pub(crate) fn retry_after(&self) -> Option<&str> {
        self.text(RETRY_AFTER)
    }

    /// Where it says that the object is.
    pub(crate) fn location(&self) -> Option<&str> {
        self.text(LOCATION)
    }

    /// Its software, as it calls itself.
    pub(crate) fn software(&self) -> Option<&str> {
        self.text(SERVER)
    }

    /// Whether it says that it speaks WebDAV.
    pub(crate) fn is_webdav(&self) -> bool {
        self.headers.contains_key("dav")
    }

    /// How long the server says that it worked (`Server-Timing`, W3C), all its parts together.
    pub(crate) fn server_time(&self) -> Option<Nanoseconds> {
        server_time(&self.headers)
    }

    /// Whether it is a success.
    pub(crate) const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    #[cfg(feature = "s3")]
    /// By what the server knows this state of the object.
    pub(crate) fn entity_tag(&self) -> Option<&str> {
        self.text(hyper::header::ETAG)
    }

    #[cfg(feature = "s3")]
    /// How far the clocks are apart, if that is more than signatures are let to differ.
    pub(crate) fn clock_ahead(&self) -> Option<Nanoseconds> {
        const ALLOWED: Duration = Duration::from_secs(300);
        self.text(hyper::header::DATE)
            .and_then(clocks_apart)
            .filter(|apart| *apart > ALLOWED)
            .map(|apart| Nanoseconds::from_seconds(apart.as_secs()))
    }

    /// The code of what is none.
    pub(crate) const fn code(&self) -> FailureCode {
        FailureCode::http(self.status)
    }
}

#[cfg(feature = "s3")]
/// How far the clocks of this host and of the server are apart, as far as seconds can tell.
fn clocks_apart(date: &str) -> Option<Duration> {
    let (theirs, ours) = (httpdate::parse_http_date(date).ok()?, SystemTime::now());
    ours.duration_since(theirs).or_else(|_| theirs.duration_since(ours)).ok()
}

/// The longest of the parts: servers tell the whole as one of them, and nested parts are not to be counted twice.
fn server_time(headers: &HeaderMap) -> Option<Nanoseconds> {
    let values = headers.get_all("server-timing").into_iter().filter_map(|value| value.to_str().ok());
    let parts = values.flat_map(|value| value.split(','));
    let durations = parts.filter_map(|part| {
        let told = part.split(';').find_map(|word| word.trim().strip_prefix("dur="))?;
        told.trim_matches('"').parse::<f64>().ok().filter(|milliseconds| (0.0..1e9).contains(milliseconds))
    });
    durations.reduce(f64::max).map(|milliseconds| Nanoseconds((milliseconds * 1e6) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_part_is_the_servers_time() {
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("server-timing", hyper::header::HeaderValue::from_static(value));
            }
            server_time(&headers)
        };
        assert_eq!(of(&["db;dur=53, app;desc=\"a\";dur=47.2"]), Some(Nanoseconds::from_milliseconds(53)));
        assert_eq!(of(&["miss", "total;dur=\"1.5\""]), Some(Nanoseconds(1_500_000)));
        assert_eq!(of(&["cache;dur=-1", "x;dur=NaN"]), None);
        assert_eq!(of(&[]), None);
    }
}

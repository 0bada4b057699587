//! What is in a collection: PROPFIND (RFC 4918, 9.1).

use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};

use super::payload::Payload;
use super::xml::visit;

/// Only whether it is a collection is asked for: what all properties are some servers have to find out one by one.
const ASKED: &[u8] = b"<?xml version=\"1.0\" encoding=\"utf-8\"?><propfind xmlns=\"DAV:\"><prop><resourcetype/></prop></propfind>";

/// The headers and the body of the question for its members.
pub(super) fn asked() -> (Vec<(HeaderName, HeaderValue)>, Payload) {
    let depth = HeaderValue::from_static("1");
    let kind = HeaderValue::from_static("application/xml; charset=utf-8");
    let headers = vec![(HeaderName::from_static("depth"), depth), (CONTENT_TYPE, kind)];
    (headers, bytes::Bytes::from_static(ASKED).into())
}

/// A member of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Its name, decoded.
    pub(super) name: String,
    pub(super) is_collection: bool,
}

/// How many members an answer has, besides the collection itself; `None` if it cannot be read.
pub(super) fn count(document: &[u8]) -> Option<u64> {
    let mut responses = 0_u64;
    let is_whole = visit(document, |name, _| responses += u64::from(name == "response"));
    (is_whole && responses > 0).then(|| responses - 1)
}

/// The members of the collection at this path, as the answer tells them; `None` if it cannot be read.
pub(super) fn members(document: &[u8], path: &str) -> Option<Vec<Member>> {
    let (mut members, mut href, mut is_collection) = (Vec::new(), String::new(), false);
    let itself = path_of(path);
    let is_whole = visit(document, |name, text| match name {
        "href" => text.clone_into(&mut href),
        "collection" => is_collection = true,
        "response" => {
            let path = path_of(&std::mem::take(&mut href));
            let is_collection = std::mem::take(&mut is_collection);
            if path != itself {
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                members.push(Member { name, is_collection });
            }
        }
        _ => {}
    });
    is_whole.then_some(members)
}

/// A path without its server and the slash at its end, decoded.
fn path_of(href: &str) -> String {
    let path = match href.split_once("://") {
        Some((_, after)) => after.find('/').map_or("", |slash| &after[slash..]),
        None => href,
    };
    percent_encoding::percent_decode_str(path.trim_end_matches('/')).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANSWER: &[u8] = b"<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">\
        <D:response><D:href>/dav/a%20b/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:propstat></D:response>\
        <D:response><D:href>http://host/dav/a%20b/0_0/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:propstat></D:response>\
        <D:response><D:href>/dav/a%20b/x%26y</D:href><D:propstat><D:prop><D:resourcetype/></D:prop></D:propstat></D:response>\
        </D:multistatus>";

    #[test]
    fn members_are_told_without_the_collection_itself() {
        let told = members(ANSWER, "/dav/a%20b").unwrap();
        let member = |name: &str, is_collection| Member { name: name.to_owned(), is_collection };
        assert_eq!(told, [member("0_0", true), member("x&y", false)]);
        assert_eq!(count(ANSWER), Some(2));
        assert_eq!((count(b"<a></a>"), count(&ANSWER[..100])), (None, None));
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(text in "(<href>|</href>|<response>|</response>|/|%2|a|<collection/>|http://){0,20}") {
            let _ = (members(text.as_bytes(), "/a"), count(text.as_bytes()));
        }
    }
}

//! The little of XML that stores answer with: texts, by the names of the elements around them.

use quick_xml::events::Event;
use quick_xml::reader::Reader;

/// Calls `visit` at the end of each element, with its name without a prefix and its text without that of elements in it. Returns whether
/// it could be read to its end.
pub(crate) fn visit(document: &[u8], mut visit: impl FnMut(&str, &str)) -> bool {
    let mut reader = Reader::from_reader(document);
    let mut texts: Vec<String> = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(_)) => texts.push(String::new()),
            Ok(Event::Text(text)) => {
                let (Some(last), Ok(text)) = (texts.last_mut(), text.decode()) else { continue };
                last.push_str(&text);
            }
            Ok(Event::GeneralRef(reference)) => {
                let Some(last) = texts.last_mut() else { continue };
                let named = reference
                    .decode()
                    .ok()
                    .and_then(|name| quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned));
                let numbered = || reference.resolve_char_ref().ok().flatten().map(String::from);
                last.push_str(&named.or_else(numbered).unwrap_or_default());
            }
            Ok(Event::CData(text)) => {
                let (Some(last), Ok(text)) = (texts.last_mut(), text.decode()) else { continue };
                last.push_str(&text);
            }
            Ok(Event::Empty(element)) => visit(&local_name(element.local_name().as_ref()), ""),
            Ok(Event::End(element)) => {
                let Some(text) = texts.pop() else { return false };
                visit(&local_name(element.local_name().as_ref()), text.trim());
            }
            Ok(Event::Eof) => return texts.is_empty(),
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

fn local_name(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_come_with_the_names_of_their_elements() {
        let mut told = Vec::new();
        let whole = b"<?xml version=\"1.0\"?><D:a xmlns:D=\"DAV:\"><D:b> x&amp;&#65;y </D:b><c/><d><![CDATA[<z>]]></d></D:a>";
        assert!(visit(whole, |name, text| told.push(format!("{name}={text}"))));
        assert_eq!(told, ["b=x&Ay", "c=", "d=<z>", "a="]);
        assert!(!visit(b"<a><b></a>", |_, _| {}));
        assert!(!visit(b"<a><b>", |_, _| {}));
    }

    proptest! {
        #[test]
        fn no_document_makes_it_panic(bytes in "[<>/a&;#!\\[\\]x0-9 \"=?-]{0,60}") {
            visit(bytes.as_bytes(), |_, _| {});
        }
    }
}

//! HTML that cannot be injected into: markup is `&'static str`, everything else is text and is escaped.

use crate::figure::DrawnFigure;

/// A piece of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Markup(String);

impl Markup {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Markup of our own.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// A figure that was drawn here, in which all texts are outlines or escaped.
    pub(crate) fn drawn(&mut self, figure: &DrawnFigure) -> &mut Self {
        self.0.push_str(figure.as_str());
        self
    }

    /// A figure with what is said of it, `sentence` first, if there is one.
    pub(crate) fn figure(&mut self, figure: &DrawnFigure, sentence: &str) {
        self.raw("<figure><div class=\"drawn\">\n").drawn(figure).raw("</div>\n<figcaption>");
        let sentences = [sentence, &figure.sentences].into_iter().filter(|sentence| !sentence.is_empty());
        self.plain(&sentences.collect::<Vec<_>>().join(" ")).raw("</figcaption></figure>\n");
    }

    /// A text from anywhere. Also safe inside a quoted attribute.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        escape_into(text, &mut self.0);
        self
    }

    /// ` name="value"` within a tag that is open.
    pub(crate) fn attribute(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    /// `<p class="class">text</p>`, or any other element without attributes from outside.
    pub(crate) fn element(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// A table up to its first row: its class, its caption if it has one, and what its columns are called.
    pub(crate) fn begin_table(&mut self, class: &'static str, caption: &str, names: &[&'static str]) {
        self.raw("<div class=\"table-box\"><table").attribute("class", class).raw(">");
        if !caption.is_empty() {
            self.element("<caption>", caption, "</caption>");
        }
        self.raw("<thead><tr>");
        for name in names {
            self.raw("<th scope=\"col\">").raw(name).raw("</th>");
        }
        self.raw("</tr></thead>\n<tbody>\n");
    }

    /// A text without code, in which numbers are not broken over lines.
    pub(crate) fn plain(&mut self, text: &str) -> &mut Self {
        self.text(&unbroken(text))
    }

    /// A text in which what stands between backquotes is code, and numbers are not broken over lines.
    pub(crate) fn prose(&mut self, text: &str) -> &mut Self {
        let mut parts = text.split('`').peekable();
        let mut is_code = false;
        while let Some(part) = parts.next() {
            // A single backquote is a backquote.
            match (is_code, parts.peek().is_some()) {
                (true, true) => self.element("<code>", part, "</code>"),
                (true, false) => self.raw("`").text(&unbroken(part)),
                (false, _) => self.text(&unbroken(part)),
            };
            is_code = !is_code;
        }
        self
    }
}

/// Blanks between digits, and between a number and what follows it within an interval or as unit, as blanks that do
/// not break; no break after the dash of an interval.
fn unbroken(text: &str) -> String {
    const UNITS: [&str; 7] = ["ns", "µs", "ms", "s", "min", "h", "%"];
    let mut joined = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let rest = &text[at + character.len_utf8()..];
        let word = rest.split(|next: char| next == ' ' || ".,;:)".contains(next)).next().unwrap_or("");
        let follows =
            rest.starts_with(|next: char| next.is_ascii_digit() || next == '[') || UNITS.contains(&word);
        match character {
            ' ' if follows && (before.is_ascii_digit() || before == ']') => joined.push('\u{a0}'),
            '–' if before.is_ascii_digit() => joined.push_str("–\u{2060}"),
            _ => joined.push(character),
        }
        before = character;
    }
    joined
}

/// Characters that mean something in HTML as references; control characters, which HTML has no way to write, as
/// U+FFFD.
fn escape_into(text: &str, into: &mut String) {
    for character in text.chars() {
        match character {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            '\n' | '\t' => into.push(character),
            // Directions that a label may not turn the page's text into (Trojan Source).
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => into.push('\u{fffd}'),
            _ if character.is_control() => into.push('\u{fffd}'),
            _ => into.push(character),
        }
    }
}

/// JSON that may stand in a script element: it cannot end it or begin a comment, and is still JSON.
pub(crate) fn json_for_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + json.len() / 32);
    for character in json.chars() {
        match character {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            _ => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_script_as_label_is_a_text() {
        let mut page = Markup::default();
        page.raw("<b")
            .attribute("title", "\"><script>")
            .raw(">")
            .text("<script>alert(1)</script>")
            .raw("</b>");
        assert_eq!(
            page.as_str(),
            "<b title=\"&quot;&gt;&lt;script&gt;\">&lt;script&gt;alert(1)&lt;/script&gt;</b>"
        );
    }

    #[test]
    fn backquotes_are_code_where_they_come_in_pairs() {
        let mut page = Markup::default();
        page.prose("run `ls <x>` or 5` wide");
        assert_eq!(page.as_str(), "run <code>ls &lt;x&gt;</code> or 5` wide");
    }

    #[test]
    fn numbers_are_not_broken_over_lines() {
        assert_eq!(
            unbroken("of 22 400 in 1.4 [1.1–1.9] ms, a b"),
            "of 22\u{a0}400 in 1.4\u{a0}[1.1–\u{2060}1.9]\u{a0}ms, a b"
        );
        assert_eq!(unbroken("took 3 sheep 5 s."), "took 3 sheep 5\u{a0}s.");
    }

    proptest! {
        #[test]
        fn no_text_becomes_markup(text in any::<String>(), tail in "(</script|<!--|<script|]]>|&lt;)") {
            let mut page = Markup::default();
            let text = format!("{text}{tail}{text}");
            page.text(&text).prose(&text.replace('`', "")).attribute("a", &text);
            let without_own = page.as_str().replace(" a=\"", "").replace("&quot;", "");
            let own = page.as_str().replace("<code>", "").replace("</code>", "");
            prop_assert_eq!(own.find(['<', '>', '\'']), None);
            prop_assert_eq!(without_own.matches('"').count(), 1);
        }

        #[test]
        fn no_data_ends_its_script(text in any::<String>(), tail in "(</script>|</SCRIPT|<!--|\u{2028}|&)") {
            let value = serde_json::json!({ "label": format!("{text}{tail}{text}") });
            let safe = json_for_script(&value.to_string());
            let is_clean = !safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']);
            prop_assert!(is_clean);
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        }
    }
}

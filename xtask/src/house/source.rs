//! What a Rust file declares, imports and mentions, as far as it can be told from its tokens.

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One file, without what is only there for tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Modules in files of their own.
    pub modules: Vec<String>,
    pub imports: Vec<Import>,
    /// Paths in the code of more than one word, and single words that were handed on.
    pub mentions: Vec<Vec<String>>,
}

/// One name of a `use`.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    pub name: String,
    pub path: Vec<String>,
    /// With `pub`.
    pub is_handed_on: bool,
}

impl Source {
    /// Takes a file apart.
    pub fn read(text: &str) -> Result<Self> {
        let tokens: TokenStream = text.parse().map_err(|error| anyhow!("it is not Rust: {error}"))?;
        let mut source = Self::default();
        source.add(tokens);
        let handed_on: Vec<&String> =
            source.imports.iter().filter(|import| import.is_handed_on).map(|import| &import.name).collect();
        source.mentions.retain(|path| path.len() > 1 || handed_on.contains(&&path[0]));
        Ok(source)
    }

    fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut rest, mut is_public) = (&tokens[..], false);
        // What comes before a word tells whether a path begins there.
        let mut before = String::new();
        while let Some((token, after)) = rest.split_first() {
            rest = after;
            let mut word = token.to_string();
            match token {
                TokenTree::Punct(_)
                    if is_mark(token, ':') && rest.first().is_some_and(|next| is_mark(next, ':')) =>
                {
                    word.push(':');
                    rest = &rest[1..];
                }
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let (attribute, after) = attribute(rest);
                    rest = if attribute == "[cfg(test)]" { after_item(after) } else { after };
                    continue;
                }
                TokenTree::Ident(_) if word == "pub" => {
                    is_public = true;
                    rest = after_group(rest, Delimiter::Parenthesis);
                    continue;
                }
                TokenTree::Ident(_) if word == "use" => {
                    let length = rest.iter().position(|token| is_mark(token, ';')).unwrap_or(0);
                    self.import(&rest[..length], &[], is_public);
                    rest = &rest[length..];
                }
                TokenTree::Ident(_) if word == "mod" => {
                    if let [TokenTree::Ident(name), end, ..] = rest
                        && is_mark(end, ';')
                    {
                        self.modules.push(name.to_string());
                    }
                }
                TokenTree::Ident(_) if !matches!(before.as_str(), "." | "::" | "fn") => {
                    let (path, after) = path(token, rest);
                    let is_call = after_group(after, Delimiter::Parenthesis).len() < after.len();
                    let is_type = word.starts_with(char::is_uppercase);
                    if path.len() > 1 || is_call || is_type {
                        self.mentions.push(path);
                    }
                    rest = after;
                }
                TokenTree::Group(group) => self.add(group.stream()),
                _ => {}
            }
            before = word;
            is_public = false;
        }
    }

    /// Adds what a `use` of `tokens` after `prefix` names.
    fn import(&mut self, tokens: &[TokenTree], prefix: &[String], is_handed_on: bool) {
        let mut path = prefix.to_vec();
        let mut name = None;
        let mut tokens = tokens.iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => name = tokens.next().map(ToString::to_string),
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) => {
                    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
                    let trees = tokens.split(|token| is_mark(token, ',')).filter(|tree| !tree.is_empty());
                    trees.for_each(|tree| self.import(tree, &path, is_handed_on));
                    return;
                }
                _ => {}
            }
        }
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        self.imports.push(Import { name, path, is_handed_on });
    }
}

/// The path that begins with `first`, and what comes after it.
fn path<'a>(first: &TokenTree, mut rest: &'a [TokenTree]) -> (Vec<String>, &'a [TokenTree]) {
    let mut path = vec![first.to_string()];
    while let [one, other, TokenTree::Ident(word), after @ ..] = rest
        && is_mark(one, ':')
        && is_mark(other, ':')
    {
        path.push(word.to_string());
        rest = after;
    }
    (path, rest)
}

/// The attribute after a `#`, in brackets and without spaces, and what comes after it.
fn attribute(rest: &[TokenTree]) -> (String, &[TokenTree]) {
    let rest = if rest.first().is_some_and(|token| is_mark(token, '!')) { &rest[1..] } else { rest };
    match rest.split_first() {
        Some((group @ TokenTree::Group(_), after)) => {
            (group.to_string().replace(char::is_whitespace, ""), after)
        }
        _ => (String::new(), rest),
    }
}

/// What comes after the item that begins here.
fn after_item(mut rest: &[TokenTree]) -> &[TokenTree] {
    let mut is_import = false;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match token {
            TokenTree::Ident(word) if word == "use" => is_import = true,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !is_import => break,
            token if is_mark(token, ';') => break,
            _ => {}
        }
    }
    rest
}

fn after_group(rest: &[TokenTree], delimiter: Delimiter) -> &[TokenTree] {
    match rest.split_first() {
        Some((TokenTree::Group(group), after)) if group.delimiter() == delimiter => after,
        _ => rest,
    }
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punctuation) if punctuation.as_char() == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str) -> Vec<String> {
        path.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn a_file_is_taken_apart() {
        let source = Source::read(
            "#![allow(x)] mod a; pub mod b; pub(crate) use a::{self, x::Y as Z, w};\nuse b::c;\n\
             #[cfg(test)] mod tests; fn w() -> b::D { self.w(); v.w::<u8>(); let v: b::E = ::b::F; $crate::e::f(Z) }",
        )
        .unwrap();
        assert_eq!(source.modules, ["a", "b"]);
        let import = |name: &str, path, is_handed_on| Import {
            name: name.to_owned(),
            path: words(path),
            is_handed_on,
        };
        assert_eq!(
            source.imports,
            [
                import("a", "a", true),
                import("Z", "a::x::Y", true),
                import("w", "a::w", true),
                import("c", "b::c", false)
            ]
        );
        assert_eq!(source.mentions, [words("b::D"), words("b::E"), words("crate::e::f"), words("Z")]);
        assert!(Source::read("fn f( {").is_err());
    }
}

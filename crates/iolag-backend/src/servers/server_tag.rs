//! The tag of the server that answered last: asked for again only when it is another one.

use std::sync::Arc;

use iolag_model::TagKind;

use crate::TagTable;

/// The last server of a session, and its tag.
pub(crate) struct ServerTag<S> {
    tags: Option<Arc<TagTable>>,
    known: Option<(S, u16)>,
}

impl<S: ToString> ServerTag<S> {
    pub(crate) const fn new(tags: Option<Arc<TagTable>>) -> Self {
        Self { tags, known: None }
    }

    /// Its tag; 0 where nobody answered, or nobody wants to know.
    pub(crate) fn of<Q>(&mut self, server: Option<Q>) -> u16
    where
        Q: PartialEq<S> + ToOwned + ToString,
        S: From<<Q as ToOwned>::Owned>,
    {
        let (Some(server), Some(tags)) = (server, &self.tags) else { return 0 };
        match &self.known {
            Some((known, tag)) if server == *known => *tag,
            _ => {
                let tag = tags.tag(TagKind::Server, &server.to_string());
                self.known = Some((server.to_owned().into(), tag));
                tag
            }
        }
    }
}

//! A working place that is nothing but a common beginning of names, or a few tables: known by a marker, which is named after the token of its
//! maker and holds the id of its run.
//!
//! Invariants: the marker is made before anything else and removed after everything else; a place with another marker, or with anything in it
//! and none, is not the run's own: nothing is made in it and nothing removed.

use std::sync::{Mutex, PoisonError};

use iolag_model::{PlaceMaker, PlaceToken, RunId};

use crate::{BackendError, Place};

/// Which place an earlier process made, once that is known.
#[derive(Debug, Default)]
pub(crate) struct Expected(Mutex<Option<PlaceToken>>);

impl Expected {
    pub(crate) fn get(&self) -> Option<PlaceToken> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, token: Option<PlaceToken>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }
}

/// What is in a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Claims {
    /// Whose it is: of each marker the token, and the run that it holds.
    pub claims: Vec<(PlaceToken, Option<RunId>)>,
    /// Whether there is anything else.
    pub has_more: bool,
}

impl Claims {
    fn is_empty(&self) -> bool {
        self.claims.is_empty() && !self.has_more
    }

    /// Whether it is this one's and nobody else's.
    fn is_of(&self, token: PlaceToken) -> bool {
        self.claims.iter().all(|(claim, _)| *claim == token) && !self.claims.is_empty()
    }
}

/// A store that has such a place.
pub(crate) trait MarkedPlace {
    /// The target, secrets removed.
    fn target(&self) -> String;

    /// The name of the place in it.
    fn name(&self) -> &str;

    /// Which place it is to be.
    fn expected(&self) -> &Expected;

    /// What is in it.
    fn look(&self) -> Result<Claims, BackendError>;

    /// Makes the place with its marker; the place may be there with the same marker.
    fn mark(&self, maker: &PlaceMaker) -> Result<(), BackendError>;

    /// Takes the marker away again, of a place in which nothing else was made.
    fn unmark(&self, token: PlaceToken) -> Result<(), BackendError>;

    /// What to know about it, as a sentence.
    fn remark(&self) -> Option<String> {
        None
    }
}

fn path_of(store: &(impl MarkedPlace + ?Sized)) -> String {
    format!("{}/{}", store.target().trim_end_matches('/'), store.name())
}

fn place(store: &(impl MarkedPlace + ?Sized), token: PlaceToken) -> Place {
    store.expected().set(Some(token));
    Place {
        target: store.target(),
        name: store.name().to_owned(),
        identity: None,
        token: Some(token),
        file_system: None,
        remark: store.remark(),
    }
}

/// It is not the run's own.
fn taken(store: &(impl MarkedPlace + ?Sized), marks: &Claims, own: Option<PlaceToken>) -> BackendError {
    let path = path_of(store);
    let others = marks.claims.iter().filter(|(token, _)| Some(*token) != own);
    match others.into_iter().find_map(|(_, run)| run.clone()) {
        Some(run) => BackendError::Claimed { path, run },
        None => BackendError::NotEmpty { path },
    }
}

/// Makes the place. Two who make it at once both find two markers, and both give way.
pub(crate) fn create_place(
    store: &(impl MarkedPlace + ?Sized),
    maker: &PlaceMaker,
) -> Result<Place, BackendError> {
    let found = store.look()?;
    let is_free = found.is_empty() || (found.is_of(maker.token) && !found.has_more);
    if !is_free {
        return Err(taken(store, &found, Some(maker.token)));
    }
    store.mark(maker)?;
    let found = store.look()?;
    if !found.is_of(maker.token) {
        // What is left of it, if that fails, is named by what clean-up says later.
        let _ = store.unmark(maker.token);
        return Err(taken(store, &found, Some(maker.token)));
    }
    Ok(place(store, maker.token))
}

/// Finds a place with a working set.
pub(crate) fn reopen_place(store: &(impl MarkedPlace + ?Sized)) -> Result<Place, BackendError> {
    let found = store.look()?;
    if !found.has_more {
        return Err(BackendError::NoWorkingSet { path: path_of(store) });
    }
    let expected = store.expected().get().or_else(|| found.claims.first().map(|(token, _)| *token));
    match expected {
        Some(token) if found.is_of(token) => Ok(place(store, token)),
        own => Err(taken(store, &found, own)),
    }
}

/// Whether there is anything in the place, a marker among it.
pub(crate) fn has_place(store: &(impl MarkedPlace + ?Sized)) -> Result<bool, BackendError> {
    Ok(!store.look()?.is_empty())
}

/// Whose things are to be removed: `None` if nothing is there.
pub(crate) fn removal_of(store: &(impl MarkedPlace + ?Sized)) -> Result<Option<PlaceToken>, BackendError> {
    let found = store.look()?;
    match store.expected().get() {
        _ if found.is_empty() => Ok(None),
        Some(token) if found.is_of(token) => Ok(Some(token)),
        own => Err(taken(store, &found, own)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::maker;

    /// Somebody else makes the same place in the same moment.
    #[derive(Default)]
    struct Contended {
        claims: Mutex<Vec<PlaceToken>>,
        rival: Option<PlaceToken>,
        expected: Expected,
    }

    impl MarkedPlace for Contended {
        fn target(&self) -> String {
            "store:".to_owned()
        }

        fn name(&self) -> &str {
            "iolag-work"
        }

        fn expected(&self) -> &Expected {
            &self.expected
        }

        fn look(&self) -> Result<Claims, BackendError> {
            let claims = self.claims.lock().unwrap().iter().map(|token| (*token, None)).collect();
            Ok(Claims { claims, has_more: false })
        }

        fn mark(&self, maker: &PlaceMaker) -> Result<(), BackendError> {
            self.claims.lock().unwrap().extend(self.rival.into_iter().chain([maker.token]));
            Ok(())
        }

        fn unmark(&self, token: PlaceToken) -> Result<(), BackendError> {
            self.claims.lock().unwrap().retain(|claim| *claim != token);
            Ok(())
        }
    }

    #[test]
    fn who_finds_a_second_marker_beside_its_own_gives_way() {
        let (one, other) = (maker(), PlaceMaker { token: PlaceToken(2), ..maker() });
        let store = Contended { rival: Some(other.token), ..Contended::default() };
        assert!(matches!(create_place(&store, &one), Err(BackendError::NotEmpty { .. })));
        assert_eq!(*store.claims.lock().unwrap(), [other.token], "nothing of ours is left");
        let store = Contended::default();
        assert_eq!(create_place(&store, &one).unwrap().token, Some(one.token));
        assert!(removal_of(&store).unwrap().is_some());
    }
}

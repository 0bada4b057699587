//! Things that several users have together, each by number.

/// Which one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SharedId(u32);

/// Things with the number of their users. One without users is dropped, and its number used again.
#[derive(Debug)]
pub(crate) struct Shared<T> {
    things: Vec<(Option<T>, u32)>,
    free: Vec<SharedId>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { things: Vec::new(), free: Vec::new() }
    }
}

impl<T> Shared<T> {
    /// A new one, with one user.
    pub(crate) fn add(&mut self, thing: T) -> SharedId {
        match self.free.pop() {
            Some(id) => {
                self.things[id.0 as usize] = (Some(thing), 1);
                id
            }
            None => {
                // Each took a line of text: there are not 2^32 of them.
                let id = SharedId(self.things.len() as u32);
                self.things.push((Some(thing), 1));
                id
            }
        }
    }

    /// One user more.
    pub(crate) fn share(&mut self, id: SharedId) -> SharedId {
        self.things[id.0 as usize].1 += 1;
        id
    }

    /// One user less; the thing, if that was the last.
    pub(crate) fn release(&mut self, id: SharedId) -> Option<T> {
        let (thing, users) = &mut self.things[id.0 as usize];
        *users = users.saturating_sub(1);
        if *users > 0 {
            return None;
        }
        let thing = thing.take();
        if thing.is_some() {
            self.free.push(id);
        }
        thing
    }

    /// Whether it has more users than one.
    pub(crate) fn is_shared(&self, id: SharedId) -> bool {
        self.things[id.0 as usize].1 > 1
    }

    pub(crate) fn get(&self, id: SharedId) -> Option<&T> {
        self.things.get(id.0 as usize)?.0.as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: SharedId) -> Option<&mut T> {
        self.things.get_mut(id.0 as usize)?.0.as_mut()
    }

    /// All that have users.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.things.iter_mut().filter_map(|(thing, _)| thing.as_mut())
    }

    /// How many have users.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.things.iter().filter(|(thing, _)| thing.is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_user_drops_it() {
        let mut shared = Shared::default();
        let one = shared.add("one");
        assert_eq!((shared.share(one), shared.is_shared(one)), (one, true));
        assert_eq!((shared.release(one), shared.release(one)), (None, Some("one")));
        assert_eq!(shared.get(one), None);
        assert_eq!(shared.release(one), None);
        let two = shared.add("two");
        assert_eq!((two, shared.get(two), shared.len()), (one, Some(&"two"), 1));
    }
}

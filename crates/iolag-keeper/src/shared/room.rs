//! How much room each client gets in the shared memory: by what its run can record, and by how many share it.

use iolag_model::Sample;

use crate::KeeperError;

/// The smallest ring in samples of a run of up to [`CLIENTS_OF_LARGE_RINGS`] clients: below that, a client would wait for the
/// writer all the time.
const RING_SAMPLES_MIN: u64 = 1024;
/// The smallest ring with more clients. Each of so many is slow, so that its ring fills slowly.
const SMALL_RING_SAMPLES_MIN: u64 = 64;
/// More clients than this may have rings below [`RING_SAMPLES_MIN`].
const CLIENTS_OF_LARGE_RINGS: u32 = 500;

/// Places that `has_room` keeps back, and one for a wait for room. Each lane needs its own besides.
const RESERVE: u64 = 16;
/// Bytes for the texts of all clients together.
const DETAIL_BYTES_OF_ALL: usize = 8 << 20;
const DETAIL_BYTES_MIN: usize = 2 << 10;
pub(crate) const DETAIL_BYTES_MAX: usize = 32 << 10;

/// Who shares the memory for samples, and what they need of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// How many clients.
    pub clients: u32,
    /// Operations that each of them has in flight at once, at most.
    pub lanes: u32,
    /// Bytes for the samples of all of them together, at most.
    pub ring_bytes: u64,
    /// Samples that one client can record in the whole run, if there is a bound.
    pub samples_per_client: Option<u64>,
}

impl Room {
    /// The bytes for samples that a run gets if nobody says otherwise: 256 MiB, and 128 MiB where thousands of clients take
    /// memory themselves.
    pub const fn usual_bytes(clients: u32) -> u64 {
        if clients > CLIENTS_OF_LARGE_RINGS { 128 << 20 } else { 256 << 20 }
    }

    /// Samples that the ring of a client holds: all that it can record, or its share of the bytes if that is less.
    ///
    /// # Errors
    /// If its share is too small to work with.
    pub(crate) fn ring_samples(&self) -> Result<usize, KeeperError> {
        let clients = u64::from(self.clients.max(1));
        let kept = RESERVE + u64::from(self.lanes);
        let recorded = self.samples_per_client.map_or(u64::MAX, |samples| samples.saturating_add(kept));
        let share = self.ring_bytes / clients / Sample::SIZE as u64;
        let least =
            if self.clients > CLIENTS_OF_LARGE_RINGS { SMALL_RING_SAMPLES_MIN } else { RING_SAMPLES_MIN };
        let least = least.max(2 * kept).min(recorded);
        if share < least {
            let needed = least * Sample::SIZE as u64 * clients;
            return Err(KeeperError::RingsTooSmall {
                ring_bytes: self.ring_bytes,
                clients: self.clients,
                needed,
            });
        }
        Ok(usize::try_from(share.min(recorded)).unwrap_or(usize::MAX))
    }

    /// Bytes of a client's ring of texts: they take memory only where something fails.
    pub(crate) fn detail_bytes(&self) -> usize {
        let share = DETAIL_BYTES_OF_ALL / (self.clients as usize).max(1);
        share.clamp(DETAIL_BYTES_MIN, DETAIL_BYTES_MAX) / 8 * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(clients: u32, ring_bytes: u64, samples_per_client: Option<u64>) -> Result<usize, String> {
        Room { clients, lanes: 1, ring_bytes, samples_per_client }
            .ring_samples()
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_ring_is_the_lesser_of_what_the_run_records_and_a_share_of_the_bytes() {
        assert_eq!(ring(1, 256 << 20, None), Ok((256 << 20) / 48));
        assert_eq!(ring(1, 256 << 20, Some(20)), Ok(37), "with the reserve");
        assert_eq!(ring(4, 256 << 20, Some(1 << 40)), Ok((64 << 20) / 48));
        assert_eq!(ring(5000, Room::usual_bytes(5000), None), Ok(559));
    }

    #[test]
    fn small_rings_are_for_many_clients_or_small_runs() {
        assert_eq!(ring(500, Room::usual_bytes(500), None), Ok(11_184));
        let error = ring(500, 500 * 1000 * 48, None).unwrap_err();
        assert!(error.contains("--buffer must be at least 24576000"), "{error}");
        assert_eq!(ring(500, 500 * 1000 * 48, Some(900)), Ok(917));
        assert_eq!(ring(501, 501 * 1000 * 48, None), Ok(1000));
        assert_eq!(ring(65_536, Room::usual_bytes(65_536), Some(1000)), Err(
            "134217728 bytes for samples are too few for 65536 clients: --buffer must be at least 201326592".into()
        ));
    }

    #[test]
    fn there_is_room_for_what_all_lanes_of_a_client_have_in_flight() {
        let ring = |lanes, ring_bytes, samples_per_client| {
            Room { clients: 1000, lanes, ring_bytes, samples_per_client }.ring_samples().ok()
        };
        assert_eq!(
            ring(128, 128 << 20, Some(20)),
            Some(164),
            "all that it records, the reserve and what is in flight"
        );
        assert_eq!(
            ring(128, 1000 * 287 * 48, None),
            None,
            "a client with so many lanes would only wait for room"
        );
        assert_eq!(ring(128, 1000 * 288 * 48, None), Some(288));
        assert_eq!(ring(1, 1000 * 64 * 48, None), Some(64));
    }

    #[test]
    fn texts_share_their_bytes_too() {
        let bytes =
            |clients| Room { clients, lanes: 1, ring_bytes: 0, samples_per_client: None }.detail_bytes();
        assert_eq!([1, 256, 1000, 5000].map(bytes), [32 << 10, 32 << 10, 8384, 2 << 10]);
    }
}

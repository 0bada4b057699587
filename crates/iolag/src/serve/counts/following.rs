//! The server's side of following: starts a follower, hears it, ends one that has fallen silent, starts the next.
//!
//! One follower at a time: one that cannot be ended is waited for, since the next would hang as it does.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::serve::attended::{Attended, apart};
use crate::serve::counts::follower;
use crate::serve::counts::frame::{self, FromFollower};
use crate::serve::view::Knowledge;
use crate::watching::Places;

/// Between the end of a follower and the start of the next: doubled each time that nothing was heard.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Follows the history for as long as it is polled. The process has one thread: it forks.
pub(in crate::serve) async fn follow(places: Places, knowledge: Arc<Knowledge>) {
    let mut pause = PAUSE_MIN;
    loop {
        let has_answered = match start(&places, &knowledge) {
            Ok(follower) => attend(follower, &knowledge).await,
            Err(sentence) => {
                knowledge.troubled(sentence);
                false
            }
        };
        pause = if has_answered { PAUSE_MIN } else { (pause * 2).min(PAUSE_MAX) };
        sleep(pause).await;
    }
}

fn start(places: &Places, knowledge: &Knowledge) -> Result<Attended, String> {
    let former = knowledge.reading();
    let follower = Attended::fork("follower", |mut pipe| {
        let former = former.as_deref().cloned();
        if let Err(last_words) = apart(|| follower::follow(places, former, &mut pipe)) {
            // Whoever is to hear it may be gone.
            let _ = frame::write(&FromFollower::Trouble(last_words), &mut pipe);
        }
    })?;
    knowledge.asked();
    Ok(follower)
}

/// Hears a follower to its end; returns whether it has said anything of use.
async fn attend(mut follower: Attended, knowledge: &Knowledge) -> bool {
    let mut has_answered = false;
    while let Some(message) = follower.unless_silent(async |said| frame::read(said).await).await {
        match message {
            Ok(Some(FromFollower::Alive)) => knowledge.heard(None),
            Ok(Some(FromFollower::Read(reading))) => knowledge.heard(Some(*reading)),
            Ok(Some(FromFollower::Trouble(sentence))) => {
                knowledge.troubled(sentence);
                break;
            }
            Ok(None) | Err(_) => {
                knowledge.troubled("the process that reads the history ended without a word".to_owned());
                break;
            }
        }
        has_answered = true;
    }
    follower.end().await;
    has_answered
}

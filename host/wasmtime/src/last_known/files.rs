//! What was last known, in files: for the processes that come after this one.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::{Last, MOST};
use crate::component::hex;
use crate::private_files;
use crate::sent::Sent;
use crate::wire::{DeferReason, Deferral};

/// The first line of a file.
const HEAD: &str = "halfopen last-known 1";

/// No file is longer, in bytes.
const LONGEST: usize = 256;

/// Nobody is deferred for longer: as long as a policy may say, in ms.
const LONGEST_WAIT: u64 = 30 * 86_400_000;

/// A file a dependency, in a folder of the user's own.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    /// What the names of all files of this host begin with, before they are hashed.
    host: Sha256,
    /// What was wrong with the folder or a file in it when one was last needed.
    fault: Mutex<Option<String>>,
}

impl Files {
    /// Those of a store, by an address without secrets, and a namespace.
    pub fn of(folder: PathBuf, store: &str, namespace: &str) -> Files {
        let mut host = Sha256::new();
        [store, namespace].into_iter().for_each(|part| add(&mut host, part));
        Files { folder, host, fault: Mutex::default() }
    }

    /// What is known of a dependency. `now` is when it is read. What cannot be trusted or understood is as if it were not
    /// there.
    pub(super) fn load(&self, dependency: &str, now: Sent) -> Option<Last> {
        let content = private_files::read(&self.folder, &self.name(dependency), LONGEST);
        let content = content.map_err(|error| {
            tracing::debug!(%error, dependency, "nothing is known from before");
            if error.kind() != ErrorKind::NotFound {
                self.came_to(Some(&error));
            }
        });
        parse(std::str::from_utf8(&content.ok()?).ok()?, now)
    }

    /// What was wrong when a file was last written or could not be read.
    pub(super) fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn came_to(&self, error: Option<&io::Error>) {
        let fault = error.map(|error| format!("{}: {error}", self.folder.display()));
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Keeps what is known of a dependency. That this fails is no error: see [`fault`](Files::fault).
    pub(super) fn save(&self, dependency: &str, last: &Last) {
        let saved = match written(last) {
            Some(content) => private_files::write(&self.folder, &self.name(dependency), content.as_bytes(), MOST),
            None => private_files::remove(&self.folder, &self.name(dependency)),
        };
        self.trace(dependency, saved);
    }

    /// From now on nothing is known of a dependency.
    pub fn forget(&self, dependency: &str) {
        self.trace(dependency, private_files::remove(&self.folder, &self.name(dependency)));
    }

    fn trace(&self, dependency: &str, done: io::Result<()>) {
        self.came_to(done.as_ref().err());
        if let Err(error) = done {
            let folder = self.folder.display();
            tracing::warn!(%error, dependency, %folder, "what is known is not kept for later processes");
        }
    }

    fn name(&self, dependency: &str) -> String {
        let mut hash = self.host.clone();
        add(&mut hash, dependency);
        hex(&hash.finalize())
    }
}

/// No two lists of parts are hashed alike.
fn add(hash: &mut Sha256, part: &str) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}

/// None for what a later process would not understand.
fn written(last: &Last) -> Option<String> {
    match last {
        Last::Proceed => Some(format!("{HEAD}\nproceed\n")),
        Last::Defer { deferral: Deferral { reason: DeferReason::Other(_), .. }, .. } => None,
        Last::Defer { deferral: Deferral { retry_after, spread, reason, .. }, asked } => {
            Some(format!("{HEAD}\ndefer {} {retry_after} {spread} {reason}\n", asked.now))
        }
    }
}

fn parse(content: &str, now: Sent) -> Option<Last> {
    let line = content.strip_prefix(HEAD)?.strip_prefix('\n')?.strip_suffix('\n')?;
    if line == "proceed" {
        return Some(Last::Proceed);
    }
    let words: Vec<&str> = line.split(' ').collect();
    let ["defer", asked, retry_after, spread, reason] = words[..] else { return None };
    let wait = |text: &str| text.parse().ok().filter(|ms: &u64| *ms <= LONGEST_WAIT);
    let (retry_after, spread) = (wait(retry_after)?, wait(spread)?);
    let known = [DeferReason::Open, DeferReason::Probing, DeferReason::ForcedOpen, DeferReason::Ramping];
    let reason = known.into_iter().find(|known| known.as_str() == reason)?;
    Some(Last::Defer {
        deferral: Deferral { retry_after, spread, reason, fresh_for: 0, admission: None },
        asked: now.back_to(asked.parse().ok()?),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testing::TempDir;

    const NOW: Sent = Sent { now: 1_000_000, monotonic: Duration::from_millis(70) };

    fn deferral(reason: DeferReason) -> Last {
        let deferral = Deferral { retry_after: 500, spread: 7, reason, fresh_for: 0, admission: None };
        Last::Defer { deferral, asked: NOW }
    }

    #[test]
    fn what_was_kept_is_known_to_the_next_process_and_to_no_other_host() {
        let temp = TempDir::new();
        let files = |store, namespace| Files::of(temp.path().join("known"), store, namespace);
        for last in [Last::Proceed, deferral(DeferReason::Open), deferral(DeferReason::ForcedOpen)] {
            files("a", "bc").save("d", &last);
            assert_eq!(files("a", "bc").load("d", NOW), Some(last));
        }
        assert_eq!(files("ab", "c").load("d", NOW), None);
        assert_eq!(files("a", "bcd").load("", NOW), None);
        files("a", "bc").save("d", &deferral(DeferReason::Other("new".to_owned())));
        assert_eq!(files("a", "bc").load("d", NOW), None, "what is not understood later is not kept");
    }

    #[test]
    fn what_makes_no_sense_is_as_if_it_were_not_there() {
        let good = written(&deferral(DeferReason::Open)).unwrap();
        assert!(parse(&good, NOW).is_some());
        for (part, other) in [
            ("last-known 1", "last-known 2"),
            ("\ndefer", "defer"),
            ("defer", "proceed"),
            ("1000000", "-1"),
            ("500", "9999999999999"),
            ("7", "seven"),
            ("open", "new"),
            ("open\n", "open"),
            ("open\n", "open \n"),
        ] {
            assert_eq!(parse(&good.replace(part, other), NOW), None, "{part:?} is {other:?}");
        }
        assert_eq!(parse("", NOW), None);
    }

    #[test]
    fn what_others_can_have_written_is_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let temp = TempDir::new();
        let files = Files::of(temp.path().join("known"), "a", "b");
        files.save("c", &Last::Proceed);
        let file = temp.path().join("known").join(files.name("c"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!((files.load("c", NOW), files.fault().is_some()), (None, true));
        files.save("c", &Last::Proceed);
        assert_eq!((files.load("c", NOW), files.fault()), (Some(Last::Proceed), None));
    }
}

//! A disk that is full: a small file system of its own for the tables.

use std::path::Path;
use std::process::Command;

use halfopen_contract::store::{CommitOutcome, Key, Snapshot, Store, StoreError, Write};
use halfopen_postgres::PostgresStore;

use crate::server::Server;

/// Unmounted when it is dropped.
struct Small<'a>(&'a Path);

impl Small<'_> {
    /// None where this user may not mount.
    fn mount(at: &Path) -> Option<Small<'_>> {
        std::fs::create_dir(at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=24m", "none"]).arg(at).output().ok()?;
        mounted.status.success().then_some(Small(at))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l"]).arg(self.0).status();
    }
}

/// Whether this user may mount a file system.
pub fn can_mount() -> bool {
    let folder = tempfile::tempdir().unwrap();
    Small::mount(&folder.path().join("disk")).is_some()
}

pub fn a_full_disk_is_an_error_and_loses_nothing() {
    let server = Server::new("");
    let disk = server.folder().join("disk");
    let _small = Small::mount(&disk).expect("the test is ignored where this user may not mount");
    let space = disk.join("space");
    std::fs::create_dir(&space).unwrap();
    let owner = std::fs::metadata(server.data()).unwrap();
    use std::os::unix::fs::MetadataExt as _;
    std::os::unix::fs::chown(&space, Some(owner.uid()), Some(owner.gid())).unwrap();
    server.sql(&format!("CREATE TABLESPACE small LOCATION '{}'", space.display()));
    server.sql("ALTER DATABASE postgres SET default_tablespace = small");
    let store = PostgresStore::open(&server.address("")).unwrap();
    let ballast = disk.join("ballast");
    std::fs::write(&ballast, vec![7; 4 << 20]).unwrap();

    let data: Vec<u8> = (0..100_000).map(|_| fastrand::u8(..)).collect();
    let names: Vec<String> = (0..1_000).map(|number| format!("record {number}")).collect();
    let key = |name: &'static str| Key { namespace: "room", dependency: name };
    let write = |name: &'static str| {
        let key = key(name);
        store.commit(&[Write { key, based_on: 0, version: 1, data: Some(&data), transitions: &[], history: 1 }])
    };
    let names: Vec<&'static str> = names.into_iter().map(|name| &*name.leak()).collect();
    let full = names.iter().position(|name| match write(name) {
        Ok(outcomes) => {
            assert_eq!(outcomes, [CommitOutcome::Committed]);
            false
        }
        Err(StoreError::Unavailable { why, .. }) => {
            assert!(why.contains("disk is full"), "{why}");
            true
        }
        Err(error) => panic!("{error}"),
    });
    let full = full.expect("the disk holds less than that");
    for (number, name) in names[..=full].iter().enumerate() {
        let Snapshot { version, data: found, .. } = store.load(key(name)).unwrap();
        let wanted = if number < full { (1, Some(data.as_slice())) } else { (0, None) };
        assert_eq!((version, found.as_deref()), wanted, "{name}");
    }
    std::fs::remove_file(ballast).unwrap();
    assert_eq!(write(names[full]).unwrap(), [CommitOutcome::Committed]);
    store.remove_namespace("room").unwrap();
}

//! What plugins see while the platform's store fails.

use std::path::Path;
use std::sync::Arc;

use halfopen::store::sqlite::{SqliteOptions, SqliteStore};
use halfopen::{Host, OnStoreError};
use halfopen_tenants::Tenant;
use halfopen_tests::breakers;

use crate::platform::{Platform, Plugin};

#[test]
fn a_store_that_is_gone_is_a_typed_error_that_names_no_place() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("secret-place");
    std::fs::create_dir(&place).unwrap();
    let store = SqliteStore::open_with(place.join("platform.db"), SqliteOptions::default()).unwrap();
    let platform = Platform::on(Arc::new(store), breakers::policy());
    let tenant = platform.tenant("acme");
    let mut plugin = Plugin::of(&tenant);
    assert_eq!(plugin.call("known", true), "applied: closed");
    std::fs::remove_dir_all(&place).unwrap();
    for answer in [plugin.take("known"), plugin.forge("known", 0, None), plugin.forge("new", 0, None)] {
        assert!(answer.starts_with("Error::Storage(StorageError::"), "{answer}");
        assert!(!answer.contains("secret-place") && !answer.contains("platform.db"), "{answer}");
    }
}

#[test]
fn an_unrecorded_permit_is_stale_when_it_is_reported() {
    let host = |place: &Path| {
        let store = SqliteStore::open_with(place.join("platform.db"), SqliteOptions::default()).unwrap();
        let builder = Host::builder().store(store).on_store_error(OnStoreError::FailOpen);
        builder.default_policy(breakers::policy()).build().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut plugin = Plugin::of(&Tenant::builder(&host(folder.path()), "acme").build());
    assert_eq!(plugin.call("pay", true), "applied: closed");
    folder.close().unwrap();
    let unrecorded = format!("proceed {}", u64::MAX);
    assert_eq!(plugin.take("pay"), unrecorded);
    assert_eq!(plugin.take("never asked for"), unrecorded);
    // Wherever it turns up.
    let folder = tempfile::tempdir().unwrap();
    let mut plugin = Plugin::of(&Tenant::builder(&host(folder.path()), "acme").build());
    assert!(plugin.forge("pay", u64::MAX, None).starts_with("stale: "));
}

use halfopen::EngineError;

use super::*;

#[test]
fn no_error_shows_a_tenant_anything_of_the_platform() {
    const PLACE: &str = "postgres://admin:hunter2@db.internal/tenants";
    let parts = || (PLACE.to_owned(), format!("password for {PLACE} in /etc/secret"));
    let of_store = |make: fn(String, String) -> StoreError| {
        let (place, why) = parts();
        BreakerError::Store(make(place, why))
    };
    let errors = [
        of_store(|place, why| StoreError::Unavailable { place, why }),
        of_store(|place, why| StoreError::Denied { place, why }),
        of_store(|place, why| StoreError::Corrupt { place, why }),
        of_store(|place, why| StoreError::InDoubt { place, why }),
        of_store(|place, why| StoreError::Other { place, why }),
        BreakerError::Store(StoreError::Newer { place: PLACE.to_owned(), found: 2, known: 1 }),
        BreakerError::Engine(EngineError::Trapped { why: parts().1 }),
        BreakerError::Engine(EngineError::Exhausted { why: parts().1 }),
        BreakerError::Other(parts().1),
        BreakerError::Contended { dependency: PLACE.to_owned() },
        BreakerError::NewerVersion { dependency: PLACE.to_owned() },
    ];
    for shown in errors.map(|original| format!("{:?}", error(original))) {
        for secret in ["postgres", "admin", "hunter2", "internal", "/etc"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[test]
fn a_tenants_own_mistake_is_explained() {
    let invalid = BreakerError::InvalidDependency { dependency: "x".to_owned(), why: "it is empty".to_owned() };
    assert_eq!(error(invalid), Error::InvalidDependency("it is empty".to_owned()));
    let argument = BreakerError::InvalidArgument("caller: too long".to_owned());
    assert_eq!(error(argument), Error::InvalidArgument("caller: too long".to_owned()));
}

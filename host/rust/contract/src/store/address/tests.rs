use super::*;

#[test]
fn an_address_is_shown_without_its_password() {
    for (address, wanted) in [
        ("mysql://me:hush@db/app", "mysql://me:***@db/app"),
        ("mysql://me:hu@sh:/?x@db/app", "mysql://me:***@db/app"),
        ("postgres://db/app?user=me&Password=hush&x=1", "postgres://db/app?user=***&Password=***&x=***"),
        ("me:hush@db/app", "me:***"),
        ("postgres:host=db password=hush", "postgres:***"),
        ("sqlite:postgres://me:hush@db/app", "sqlite:postgres://me:***@db/app"),
        ("postgres://me@db:1/app", "postgres://me@db:1/app"),
        ("sqlite:a:b@c?password=d", "sqlite:a:b@c?password=d"),
    ] {
        assert_eq!(AddressError::new(address, "").address, wanted);
    }
}

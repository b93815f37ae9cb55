use super::*;

#[test]
fn the_embedded_component_imports_storage_clock_and_entropy_and_no_others() {
    let functions: Vec<String> =
        Component::embedded().imports().unwrap().into_iter().filter(|name| name.contains('#')).collect();
    assert_eq!(
        functions,
        [
            "halfopen:breaker/clock@0.1.0#now",
            "halfopen:breaker/entropy@0.1.0#next",
            "halfopen:breaker/storage@0.1.0#commit",
            "halfopen:breaker/storage@0.1.0#load",
        ]
    );
}

#[test]
fn a_pin_lets_through_its_own_bytes_alone() {
    let component = Component::embedded();
    let hash = component.sha256();
    assert!(component.clone().pinned(&hash).is_ok());
    assert!(component.clone().pinned(&hash.to_uppercase()).is_ok());
    let other = "0".repeat(64);
    assert!(matches!(component.clone().pinned(&other), Err(ComponentError::OtherHash { .. })));
    for pin in ["", "12", &"g".repeat(64), &hash[1..]] {
        assert!(matches!(component.clone().pinned(pin), Err(ComponentError::InvalidPin { .. })), "{pin:?}");
    }
}

#[test]
fn what_is_no_component_is_named() {
    assert!(matches!(Component::from_bytes("hello"), Err(ComponentError::NotAComponent { .. })));
    assert!(matches!(Component::from_bytes(""), Err(ComponentError::NotAComponent { .. })));
    assert!(matches!(Component::from_bytes(*b"\0asm\x01\0\0\0"), Err(ComponentError::CoreModule { .. })));
    assert!(matches!(Component::from_file("/nowhere/a.wasm"), Err(ComponentError::Unreadable { .. })));
}

#[test]
fn a_component_cut_in_the_middle_is_named_when_it_is_compiled() {
    let bytes = Component::embedded().bytes().to_vec();
    let cut = Component::from_bytes(&bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(cut.imports(), Err(ComponentError::NotAComponent { .. })));
}

use super::*;

#[test]
fn one_name_has_one_state_and_one_out_of_use_goes() {
    const CAPACITY: usize = 100;
    let registry = Registry::new(CAPACITY);
    let held = registry.get("held");
    assert!(Arc::ptr_eq(&held, &registry.get("held")));
    for number in 0..3 * CAPACITY {
        registry.get(&format!("passing {number}"));
    }
    assert!(registry.all().len() <= CAPACITY + 1, "{} are kept", registry.all().len());
    assert!(Arc::ptr_eq(&held, &registry.get("held")));
}

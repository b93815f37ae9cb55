//! The dependencies that a host keeps in memory.

use super::*;
use crate::local_admission::LocalAdmission;

#[test]
fn one_name_has_one_state_and_one_out_of_use_goes() {
    const CAPACITY: usize = 100;
    let admission = LocalAdmission::new(None, CAPACITY);
    let held = admission.get("held");
    assert!(Arc::ptr_eq(&held, &admission.get("held")));
    for number in 0..3 * CAPACITY {
        admission.get(&format!("passing {number}"));
    }
    assert!(admission.all().len() <= CAPACITY + 1, "{} are kept", admission.all().len());
    assert!(Arc::ptr_eq(&held, &admission.get("held")));
}

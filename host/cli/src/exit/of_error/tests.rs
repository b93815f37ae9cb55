use super::*;

#[test]
fn the_code_is_that_of_the_first_error_with_one() {
    let deep = anyhow::Error::new(StoreError::Denied { place: "x".into(), why: "y".into() }).context("on the way");
    assert_eq!(code_of(&deep), Code::Denied);
    assert_eq!(code_of(&Failure::error(Code::Config, "no")), Code::Config);
    assert_eq!(code_of(&anyhow::anyhow!("something")), Code::Internal);
}

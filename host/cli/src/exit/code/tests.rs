use super::*;

#[test]
fn every_code_is_in_the_help() {
    let all = [
        Code::Usage,
        Code::Data,
        Code::NoInput,
        Code::Unavailable,
        Code::Internal,
        Code::Io,
        Code::Deferred,
        Code::Denied,
        Code::Config,
        Code::TimedOut,
        Code::CannotExecute,
        Code::NotFound,
    ];
    for code in all {
        let number = (code as u8).to_string();
        assert!(TABLE.iter().any(|(text, _)| *text == number), "{code:?}");
    }
}

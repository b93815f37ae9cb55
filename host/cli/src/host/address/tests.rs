use super::*;

#[test]
fn the_state_folder_follows_xdg() {
    let with = |xdg: Option<&str>, home: Option<&str>| {
        let of = |name: &str| if name == "HOME" { home } else { xdg };
        state_folder(|name| of(name).map(PathBuf::from)).map(|found| found.folder)
    };
    assert_eq!(with(Some("/state"), Some("/home/me")), Some("/state/halfopen".into()));
    assert_eq!(with(None, Some("/home/me")), Some("/home/me/.local/state/halfopen".into()));
    assert_eq!(with(Some("state"), Some("/home/me")), Some("/home/me/.local/state/halfopen".into()));
    assert_eq!(with(Some(""), Some("")), None);
    assert_eq!(with(None, None), None);
}

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::{read, write};

const MOST: usize = 16;

#[test]
fn a_file_is_read_back_and_only_its_user_enters_the_folder() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("cache/halfopen");
    write(&folder, "a", b"before", MOST).unwrap();
    write(&folder, "a", b"content", MOST).unwrap();
    assert_eq!(read(&folder, "a").unwrap(), b"content");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "a draft was left behind");
}

#[test]
fn a_folder_keeps_the_newest_files_only() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("halfopen");
    for number in 0..MOST + 5 {
        write(&folder, &number.to_string(), b"content", MOST).unwrap();
        // The files differ in age, whatever the resolution of the file system's clock.
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number as u64);
        fs::File::open(folder.join(number.to_string())).unwrap().set_modified(old).unwrap();
    }
    write(&folder, "newest", b"content", MOST).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), MOST);
    assert!(read(&folder, "newest").is_ok());
    assert!(read(&folder, "0").is_err());
}

#[test]
fn a_folder_that_other_users_can_write_is_not_trusted() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("halfopen");
    write(&folder, "a", b"content", MOST).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let why = read(&folder, "a").unwrap_err().to_string();
    assert!(why.contains(&format!("`chmod 700 {}`", folder.display())), "{why}");
    assert!(write(&folder, "b", b"content", MOST).is_err());
}

#[test]
fn a_link_in_place_of_the_folder_is_not_followed() {
    let temp = TempDir::new().unwrap();
    let real = temp.path().join("real");
    write(&real, "a", b"content", MOST).unwrap();
    let link = temp.path().join("halfopen");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert!(read(&link, "a").is_err());
}

#[test]
fn a_pipe_a_link_or_a_folder_in_place_of_a_file_is_an_error() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("halfopen");
    write(&folder, "a", b"content", MOST).unwrap();
    std::os::unix::fs::symlink(folder.join("a"), folder.join("link")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    fs::create_dir(folder.join("folder")).unwrap();
    for name in ["link", "pipe", "folder"] {
        assert!(read(&folder, name).is_err(), "{name}");
    }
    assert!(read(&folder, "a").is_ok());
}

#[test]
fn a_file_that_is_cut_or_altered_is_not_used() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("halfopen");
    write(&folder, "a", b"content", MOST).unwrap();
    let file = folder.join("a");
    let whole = fs::read(&file).unwrap();
    for damaged in [&whole[..10], &whole[..whole.len() - 1], &[whole.as_slice(), b"x"].concat()] {
        fs::write(&file, damaged).unwrap();
        assert!(read(&folder, "a").is_err(), "{} bytes", damaged.len());
    }
}

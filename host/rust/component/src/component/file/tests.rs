use super::*;

#[test]
fn a_folder_and_a_device_are_refused_without_a_wait() {
    for path in ["/", "/dev/zero"] {
        assert_eq!(read(Path::new(path)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{path}");
    }
    assert_eq!(read(Path::new("/nowhere")).unwrap_err().kind(), io::ErrorKind::NotFound);
}

//! A copy of the sources, to build from elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::program::root;

/// Copies what is under version control, or would be, as it is now.
pub fn copy(to: &Path) {
    let tracked = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git can be started");
    assert!(tracked.status.success(), "{}", String::from_utf8_lossy(&tracked.stderr));
    for name in String::from_utf8(tracked.stdout).expect("names are UTF-8").split('\0').filter(|name| !name.is_empty())
    {
        let (from, to) = (root().join(name), to.join(name));
        let Ok(kind) = from.symlink_metadata() else { continue };
        fs::create_dir_all(to.parent().expect("files are in folders")).expect("the copy is writable");
        if kind.is_symlink() {
            symlink(fs::read_link(&from).expect("it is a link"), &to).expect("the copy is writable");
        } else {
            fs::copy(&from, &to).expect("the copy is writable");
        }
    }
}

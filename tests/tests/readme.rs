//! Every command of the READMEs does what it says.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use halfopen_tests::program::{program, root};

/// A line of a shell block, and the exit status that a comment at its end promises.
struct Line {
    text: String,
    status: i32,
}

/// The READMEs of the repository. The Python package tests its own.
fn readmes() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder is readable") {
            let path = entry.expect("the folder is readable").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8").to_owned();
            if path.is_dir() && !name.starts_with('.') && !["node_modules", "target", "python"].contains(&name.as_str())
            {
                folders.push(path);
            } else if name == "README.md" {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn shell_lines(readme: &Path) -> Vec<Line> {
    let text = fs::read_to_string(readme).expect("the README is readable");
    let mut lines = Vec::new();
    let mut in_shell = false;
    for line in text.lines() {
        match line.trim_start() {
            "```sh" => in_shell = true,
            fence if fence.starts_with("```") => in_shell = false,
            text if in_shell && !text.is_empty() => lines.push(read(text)),
            _ => {}
        }
    }
    lines
}

fn read(text: &str) -> Line {
    let (text, status) = match text.rsplit_once(" # exit ") {
        Some((text, status)) => (text, status.trim().parse().expect("an exit status is a number")),
        None => (text, 0),
    };
    Line { text: text.trim().to_owned(), status }
}

fn is_cargo(line: &Line) -> bool {
    line.text.starts_with("cargo ")
}

/// Whether a line is one of the npm package's, which its own tests run.
fn is_npm(line: &Line) -> bool {
    line.text.starts_with("npm ")
}

#[test]
fn every_command_in_a_readme_ends_as_the_readme_says() {
    let path = path_with(program().parent().expect("the program is in a folder"));
    let mut count = 0;
    for readme in readmes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for line in shell_lines(&readme).iter().filter(|line| !is_cargo(line) && !is_npm(line)) {
            count += 1;
            run(line, &readme, folder.path(), &path);
        }
    }
    assert!(count > 40, "the READMEs show commands: {count}");
}

fn run(line: &Line, readme: &Path, folder: &Path, path: &OsString) {
    let mut shell = Command::new("sh");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HALFOPEN_")) {
        shell.env_remove(name);
    }
    let output = shell
        .args(["-c", &line.text])
        .current_dir(folder)
        .env("PATH", path)
        .env("HALFOPEN_STORE", folder.join("readme.db"))
        .stdin(Stdio::null())
        .output()
        .expect("sh can be started");
    assert_eq!(
        output.status.code(),
        Some(line.status),
        "{}: {}\nstdout: {}\nstderr: {}",
        readme.display(),
        line.text,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn every_cargo_command_in_a_readme_is_run_before_a_change_lands() {
    let script = fs::read_to_string(root().join(".ci/run")).expect("the script is in the repository");
    let script = script.replace(" --locked", "");
    let lines: Vec<Line> = readmes().iter().flat_map(|readme| shell_lines(readme)).collect();
    let commands: Vec<&Line> = lines.iter().filter(|line| is_cargo(line)).collect();
    assert!(commands.len() > 2, "the READMEs show commands: {}", commands.len());
    for line in commands {
        // The tests of one crate are among those of all.
        let is_run = script.contains(&line.text) || line.text.starts_with("cargo test -p ");
        assert!(is_run, ".ci/run does not run: {}", line.text);
    }
}

#[test]
fn the_policy_in_the_readme_is_the_built_in_one() {
    let readme = fs::read_to_string(root().join("host/cli/README.md")).expect("the program has a README");
    let block = readme.split("```toml\nconsecutive_failures").nth(1).and_then(|rest| rest.split("```").next());
    let text = format!("consecutive_failures{}", block.expect("the README shows the default policy"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("policy.toml");
    fs::write(&file, text).expect("the folder is writable");
    let shown = |with_file: bool| {
        let mut command = Command::new(program());
        command.args(["policy", "show", "--json", "--store", "memory"]).env_remove("HALFOPEN_POLICY");
        if with_file {
            command.arg("--default-policy").arg(&file);
        }
        let output = command.output().expect("the program can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("JSON is UTF-8")
    };
    assert_eq!(shown(true), shown(false));
}

fn path_with(folder: &Path) -> OsString {
    let mut folders = vec![folder.to_owned()];
    if let Some(path) = std::env::var_os("PATH") {
        folders.extend(std::env::split_paths(&path));
    }
    std::env::join_paths(folders).expect("no folder holds a colon")
}

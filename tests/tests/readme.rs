//! The commands of the README do what it says.
//!
//! Every line of its `sh` blocks that uses the program is run, in order, in one folder of its own; the exit status is 0
//! unless a comment at its end says `# exit N`. Lines that start with cargo are those of `.ci/run`.

use std::fs;
use std::process::{Command, Stdio};

use halfopen_tests::program::{program, root};

/// The shell lines of a Markdown text; a line that ends in a backslash goes on in the next one.
fn shell_lines(markdown: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    let mut begun = String::new();
    for line in markdown.lines() {
        match line.trim_end() {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => match line.strip_suffix('\\') {
                Some(part) => begun.push_str(part),
                None => lines.push(std::mem::take(&mut begun) + line.trim_start()),
            },
            _ => {}
        }
    }
    lines.retain(|line| !line.is_empty() && !line.starts_with('#'));
    lines
}

/// The command and the exit status that it is to have.
fn with_status(line: &str) -> (&str, i32) {
    match line.rsplit_once("# exit ") {
        Some((command, status)) => (command.trim_end(), status.trim().parse().expect("an exit status")),
        None => (line, 0),
    }
}

fn readme() -> Vec<String> {
    shell_lines(&fs::read_to_string(root().join("README.md")).unwrap())
}

fn uses_the_program(line: &str) -> bool {
    !line.starts_with("cargo ") && line.contains("halfopen ")
}

#[test]
fn shell_lines_and_their_statuses_are_found() {
    let text = "a\n```sh\none # exit 3\n# no line\n\ntwo \\\n  three\n```\n```text\nfour\n```\n";
    assert_eq!(shell_lines(text), ["one # exit 3", "two three"]);
    assert_eq!(with_status("one # exit 3"), ("one", 3));
    assert_eq!(with_status("two # hello"), ("two # hello", 0));
}

#[test]
fn each_command_of_the_program_ends_as_the_readme_says() {
    let folder = tempfile::tempdir().unwrap();
    let own = program().parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&others))).unwrap();
    // What the README calls by its place in the repository.
    std::os::unix::fs::symlink(root().join("tests"), folder.path().join("tests")).unwrap();
    let lines = readme();
    let mut run = 0;
    for line in lines.iter().filter(|line| uses_the_program(line)) {
        let (command, status) = with_status(line);
        let mut shell = Command::new("sh");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HALFOPEN_")) {
            shell.env_remove(name);
        }
        shell
            .args(["-c", command])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("HOME", folder.path())
            .env("HALFOPEN_STORE", folder.path().join("readme.db"))
            .stdin(Stdio::null());
        let output = shell.output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(status),
            "{line}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        run += 1;
    }
    println!("{run} commands of the README were run");
    assert!(run > 0, "the README shows no command");
}

#[test]
fn each_cargo_command_of_the_readme_is_run_by_ci() {
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    let run: Vec<String> =
        ci.lines().map(|line| line.trim().trim_start_matches("step ").replace(" --locked", "")).collect();
    let missing: Vec<String> = readme()
        .into_iter()
        .filter(|line| line.starts_with("cargo "))
        .map(|line| with_status(&line).0.to_owned())
        .filter(|line| !run.contains(&line.replace(" --locked", "")))
        .collect();
    assert_eq!(missing, Vec::<String>::new(), "not in .ci/run");
}

//! `halfopen component`, and files that are no component of the contract.

use halfopen::Component;

use crate::bench::{Bench, all, ran};

#[test]
fn the_component_is_shown_written_and_run_from_its_file() {
    let bench = Bench::new();
    let file = bench.at("halfopen.wasm");
    let written = bench.run(&["component", "write", &file]);
    assert_eq!(written.code, 0, "{written:?}");
    assert_eq!(std::fs::read(&file).unwrap(), Component::embedded().bytes());

    let shown = bench.run(&["component", "show", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["sha256"], Component::embedded().sha256());
    assert_eq!(shown["bytes"], Component::embedded().bytes().len());
    let gzipped = shown["gzipped_bytes"].as_u64().unwrap();
    assert!((1_000..48 * 1_024).contains(&gzipped), "{gzipped}");

    let of_file = bench.run(&["component", "show", &file]).stdout;
    let without_place = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_place(&of_file), without_place(&bench.run(&["component"]).stdout));

    assert_eq!(bench.run(&["--component", &file, "run", "pay", "--", "true"]).code, 0);
    assert_eq!(ran(bench.command(&["status"]).env("HALFOPEN_COMPONENT", &file)).code, 0);

    let piped = bench.command(&["component", "write", "-"]).output().unwrap();
    assert_eq!(piped.stdout, Component::embedded().bytes());
}

#[test]
fn an_existing_file_is_replaced_only_with_force() {
    let bench = Bench::with_records();
    let file = bench.write("halfopen.wasm", "mine");
    insta::assert_snapshot!(all([
        bench.refused(&["component", "write", &file]),
        bench.refused(&["component", "write", &bench.at("none/halfopen.wasm")]),
    ]));
    assert_eq!(bench.run(&["component", "write", "--force", &file]).code, 0);
    assert_eq!(std::fs::read(&file).unwrap(), Component::embedded().bytes());
}

/// The component with one text in it replaced by another of the same length.
fn patched(from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = Component::embedded().bytes().to_vec();
    let mut at = 0;
    let mut found = false;
    while at + from.len() <= bytes.len() {
        if bytes[at..].starts_with(from.as_bytes()) {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
            found = true;
        }
        at += 1;
    }
    assert!(found, "{from} is not in the component");
    bytes
}

#[test]
fn a_foreign_component_is_refused_before_anything_is_done() {
    let bench = Bench::with_records();
    let embedded = Component::embedded();
    let foreign = "(component (import \"wasi:cli/environment@0.2.0\" (instance \
                   (export \"get-arguments\" (func (result (list string)))))))";
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("text.wasm", b"hello".to_vec()),
        ("empty.wasm", Vec::new()),
        ("module.wasm", wat::parse_str("(module)").unwrap()),
        ("cut.wasm", embedded.bytes()[..embedded.bytes().len() / 2].to_vec()),
        ("nothing.wasm", wat::parse_str("(component)").unwrap()),
        ("foreign.wasm", wat::parse_str(foreign).unwrap()),
        ("later.wasm", patched("@0.1.0", "@0.9.0")),
        ("renamed.wasm", patched("halfopen:breaker/entropy", "halfopen:breaker/network")),
    ];
    let mut refusals: Vec<String> = Vec::new();
    for (name, bytes) in &files {
        let file = bench.write(name, bytes);
        refusals.push(bench.refused(&["--component", &file, "run", "pay", "--", "touch", "started"]));
    }
    refusals.push(bench.refused(&["--component", &bench.at("none.wasm"), "status"]));
    refusals.push(bench.refused(&["--component", bench.folder().to_str().unwrap(), "status"]));
    refusals.push(bench.refused(&["component", "show", &bench.at("text.wasm")]));
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"section range .* \(bound = \d+\)", "section range [places]");
    settings.bind(|| insta::assert_snapshot!(all(refusals)));
}

#[test]
fn a_component_of_a_later_release_of_the_series_runs() {
    let bench = Bench::new();
    let file = bench.write("later.wasm", patched("@0.1.0", "@0.1.7"));
    assert_eq!(bench.run(&["--component", &file, "run", "pay", "--", "true"]).code, 0);
    let status = bench.run(&["--component", &file, "status", "pay", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["state"], "closed", "{status}");
}

#[test]
fn only_a_component_with_the_given_digest_runs() {
    let bench = Bench::with_records();
    let ours = Component::embedded().sha256();
    let other = bench.write("other.wasm", patched("@0.1.0", "@0.1.7"));
    assert_eq!(bench.run(&["--component-sha256", &ours, "status"]).code, 0);
    let run = ["run", "pay", "--", "touch", "started"];
    let refusals = [
        bench.refused(&[&["--component-sha256", &"0".repeat(64)], &run[..]].concat()),
        bench.refused(&[&["--component-sha256", &ours, "--component", &other], &run[..]].concat()),
        bench.refused(&[&["--component-sha256", "halfopen.wasm"], &run[..]].concat()),
        bench.refused(&["--component-sha256", &"0".repeat(64), "replay", &bench.at("none.jsonl")]),
    ];
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"[0-9a-f]{64}", "[digest]");
    settings.bind(|| insta::assert_snapshot!(all(refusals.to_vec())));
}

//! The walls of the house: which module may know which, and what may appear where.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::path::{Path, PathBuf};

const RULES: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("clock", &[]),
    ("offline", &[]),
    ("conversation", &["text"]),
    ("wire", &["conversation", "text"]),
    ("approval", &["conversation", "text"]),
    ("net", &["wire", "conversation", "clock"]),
    ("tools", &["conversation", "text", "clock"]),
    ("session", &["conversation", "wire"]),
    ("config", &["conversation", "wire"]),
    ("tui", &["conversation", "wire", "approval", "text"]),
    ("agent", &["text", "conversation", "wire", "approval", "net", "tools", "session", "config"]),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Names of the modules that follow `crate::` in a source text, comments left out.
fn known(source: &str) -> Vec<String> {
    let code: String = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            // `use crate::{a::B, c}`: the first name of each member.
            let mut depth = 1;
            let mut member = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                if depth == 0 || (c == ',' && depth == 1) {
                    names.push(first_name(member.trim()));
                    member.clear();
                    if depth == 0 {
                        break;
                    }
                } else {
                    member.push(c);
                }
            }
        } else {
            names.push(first_name(rest));
        }
    }
    names
}

fn first_name(path: &str) -> String {
    path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn modules_know_only_what_the_design_allows() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut broken = Vec::new();
    for (module, allowed) in RULES {
        for file in sources(&src.join(module)) {
            for name in known(&std::fs::read_to_string(&file).unwrap()) {
                if name != *module && !allowed.contains(&name.as_str()) {
                    broken.push(format!(
                        "{} knows {name}",
                        file.strip_prefix(&src).unwrap().display()
                    ));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_scan_finds_what_it_looks_for() {
    let source = "use crate::tui::Model;\n// crate::net is only a comment\nuse crate::{app::{A, B}, cli};\n$crate::skipped";
    assert_eq!(known(source), ["tui", "app", "cli"]);
}

#[test]
fn every_source_file_says_what_it_is_responsible_for() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let silent: Vec<_> = sources(&src)
        .into_iter()
        .filter(|file| !std::fs::read_to_string(file).unwrap().starts_with("//! "))
        .collect();
    assert!(silent.is_empty(), "without a head: {silent:#?}");
}

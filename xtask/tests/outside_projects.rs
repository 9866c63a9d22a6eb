//! Each library crate can be used from a project outside the workspace.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::Path;
use std::process::Command;

/// A crate and a program of three lines that uses it.
const PROJECTS: [(&str, &str); 11] = [
    (
        "kuhaku-core",
        "fn main() {\n    assert!(kuhaku_core::Scope::anonymous().roles().is_empty());\n}\n",
    ),
    ("kuhaku-llm", "fn main() {\n    use kuhaku_llm as _;\n}\n"),
    ("kuhaku-onnx", "fn main() {\n    use kuhaku_onnx as _;\n}\n"),
    (
        "kuhaku-ingest",
        "fn main() {\n    assert!(kuhaku_ingest::Format::from_name(\"a.md\").is_some());\n}\n",
    ),
    ("kuhaku-index", "fn main() {\n    assert!(kuhaku_index::Bm25::default().k1 > 0.0);\n}\n"),
    (
        "kuhaku-rag",
        "fn main() {\n    assert_eq!(kuhaku_rag::RagSettings::default().top_k, 4);\n}\n",
    ),
    ("kuhaku-extract", "fn main() {\n    use kuhaku_extract as _;\n}\n"),
    ("kuhaku-hydrag", "fn main() {\n    use kuhaku_hydrag as _;\n}\n"),
    ("kuhaku-eval", "fn main() {\n    use kuhaku_eval as _;\n}\n"),
    (
        "kuhaku-testkit",
        "fn main() {\n    let _now = kuhaku_testkit::fixed_runtime(Default::default()).now();\n}\n",
    ),
    ("kuhaku", "fn main() {\n    let _builder = kuhaku::Rag::builder();\n}\n"),
];

#[test]
fn each_crate_serves_a_project_outside_the_workspace() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (name, main) in PROJECTS {
        let folder = tempfile::tempdir().unwrap();
        let path = workspace.join("crates").join(name);
        let manifest = format!(
            "[package]\nname = \"outside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{name} = {{ path = {path:?} }}\n\n[workspace]\n\n\
             [profile.dev]\ndebug = \"line-tables-only\"\n"
        );
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
        std::fs::write(folder.path().join("src/main.rs"), main).unwrap();
        // The same versions as here, so that nothing is fetched and little is built again.
        std::fs::copy(workspace.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace.join("target"), Into::into);
        let output = Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--offline"])
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", target)
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

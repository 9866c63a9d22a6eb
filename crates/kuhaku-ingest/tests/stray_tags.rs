//! Documents that state access tags where they are not read are refused, never opened to everybody.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use kuhaku_core::{InjectionGuard, PiiMasker};
use kuhaku_ingest::{Chunker, Error, Format, PreparedDocument, Preparer, Source, load};
use proptest::prelude::*;

static PREPARER: LazyLock<Preparer> = LazyLock::new(|| {
    Preparer::new(Arc::new(PiiMasker::new()), InjectionGuard::new(), Chunker::default())
});

fn prepare(text: &str) -> Result<PreparedDocument, Error> {
    PREPARER.prepare(Source::from_bytes("a.md", text))
}

fn is_restricted_or_refused(text: &str) -> bool {
    match prepare(text) {
        Ok(document) => document.tags.is_some_and(|tags| !tags.is_empty()),
        Err(error) => error.code() == "ingest.access_tags",
    }
}

const TAGS: &str = "access_tags: [hr]";

#[test]
fn front_matter_that_a_slip_makes_text_is_refused_with_a_next_step() {
    let block = format!("---\n{TAGS}\n---\nSecret.");
    for before in [
        "\u{feff}\u{feff}",
        "\u{200b}",
        " ",
        "\u{a0}",
        "<!-- licence -->\n",
        "<!--\nlicence: X\nmore words of it\n-->\n\n",
        "# yaml\n",
        "A line.\n\n",
        "\u{feff}\n\u{200b}\n \u{2060}\n",
    ] {
        let error = prepare(&format!("{before}{block}")).unwrap_err();
        assert_eq!(error.code(), "ingest.access_tags", "{before:?}");
        assert!(error.next_step().is_some_and(|step| step.contains("three hyphens")));
        assert!(!error.to_string().contains("hr]."), "{error}");
    }
    for (open, close) in [("--- # yaml", "---"), ("----", "----"), ("—", "—"), ("```yaml", "```")]
    {
        let text = format!("{open}\n{TAGS}\n{close}\nSecret.");
        assert_eq!(prepare(&text).unwrap_err().code(), "ingest.access_tags", "{open}");
    }
    for end in ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"] {
        let text = block.replace('\n', end);
        assert_eq!(prepare(&text).unwrap_err().code(), "ingest.access_tags", "{end:?}");
    }
}

#[test]
fn tags_under_another_key_in_a_map_or_in_an_open_block_are_refused() {
    for front in [
        "kuhaku:\n  access_tags: [hr]\n---\n",
        "kuhaku: {access_tags: [hr]}\n---\n",
        "title: A\n\naccess_tags: [hr]\n\nSecret.",
        "acces_tags: [hr]\n---\n",
        "accessTagz: [hr]\n---\n",
        "acess-tags: [hr]\n---\n",
        "access_tgas: [hr]\n---\n",
        "aссess_tags: [hr]\n---\n",
        "αccess_tags: [hr]\n---\n",
        "ａｃｃｅｓｓ＿ｔａｇｓ: [hr]\n---\n",
        "access_tags： [hr]\n---\n",
        "access_tags = hr\n---\n",
        "- access_tags: [hr]\n---\n",
        "note: |\n  access_tags: [hr]\n---\n",
    ] {
        let text = format!("---\n{front}Secret.");
        assert_eq!(prepare(&text).unwrap_err().code(), "ingest.access_tags", "{front}");
    }
    assert!(load(b"{\n  \"access_tags\": [\"hr\"]\n}\n", Format::Text).is_err());
    assert!(prepare("# T\n\nText.\n\n**Metadata:** obsolete: true · acces tags: hr\n").is_err());
    let utf16: Vec<u8> = std::iter::once('\u{feff}')
        .chain(format!(" ---\n{TAGS}\n---\n").chars())
        .collect::<String>()
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(load(&utf16, Format::Text).unwrap_err().code(), "ingest.access_tags");
}

#[test]
fn a_document_whose_tags_are_read_may_speak_of_them() {
    for key in ["access_tags", "access-tags", "accessTags", "Access Tags", "access_tag"] {
        let text = format!("---\n{key}: [hr]\n---\nAccess tags: see the manual.\n");
        let tags = prepare(&text).unwrap().tags.unwrap();
        assert_eq!(tags.iter().collect::<Vec<_>>(), ["hr"], "{key}");
    }
}

#[test]
fn a_text_about_access_tags_is_a_text() {
    let guide = format!("# Guide\n\n{}", "A line of the guide.\n\n".repeat(80));
    for about in [
        "The access tags: see the manual.",
        "Access tags: see the manual.",
        "```text\n---\naccess_tags: [people_ops]\n---\n```",
        "| access_tags: [hr] | restricts |",
    ] {
        assert!(prepare(&format!("{guide}{about}\n")).is_ok(), "{about}");
    }
    for head in [
        "The access tags: see the manual.",
        "Write `access_tags: [hr]` at the top of the file.",
        "Access tags decide who sees a document.\n",
        "---\ntitle: All about access tags\ntags: [access_tags]\n---\nText",
    ] {
        assert!(prepare(head).is_ok(), "{head}");
    }
}

#[test]
fn the_documentation_of_this_repository_can_be_prepared() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = docs.filter(|path| path.extension().is_some_and(|suffix| suffix == "md"));
    let mut told = 0;
    for page in pages.chain(["README.md", "CHANGELOG.md"].map(|name| root.join(name))) {
        let text = fs::read_to_string(&page).unwrap();
        told += usize::from(text.contains("\naccess_tags: ["));
        assert!(prepare(&text).is_ok(), "{}", page.display());
    }
    assert!(told > 0, "no page shows front matter any more");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever stands around it, a line of its own that states tags never leaves a document open.
    #[test]
    fn no_head_hides_access_tags(
        before in prop::collection::vec(prop_oneof![
            Just("---"), Just("----"), Just("--- # x"), Just(""), Just("# note"), Just("<!-- x -->"),
            Just("title: A"), Just("map:"), Just("- item"), Just("\u{200b}"), Just("+++"), Just("..."),
        ], 0..40),
        mark in prop_oneof![Just(""), Just("  "), Just("- "), Just("> "), Just("\""), Just("\u{feff}")],
        key in prop_oneof![
            Just("access_tags"), Just("accessTags"), Just("acces_tags"), Just("АCCESS-TАGS"),
        ],
        end in prop_oneof![Just("\n"), Just("\r\n"), Just("\u{2028}"), Just("\u{c}")],
    ) {
        let text = format!("{}{end}{mark}{key}: [hr]{end}---{end}Secret.", before.join(end));
        prop_assert!(is_restricted_or_refused(&text), "{text:?}");
    }
}

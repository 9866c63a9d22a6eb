//! What stands around a value.

use super::draw::Draw;
use super::{Announced, Value};

/// `{w}` is the word that announces the value, `{v}` the value.
const WITH_WORD: &[&str] = &[
    "The {w} is {v}.",
    "Note 43: {w} {v}, since 12/26.",
    "\"{w}\": \"{v}\",",
    "| {w} | {v} | 7 |",
    "- {w}: **{v}** and 12 more",
    "({w} {v})",
    "{w}\t{v}\t99",
    "{w};{v};yes",
    "<td>{w}</td><td>{v}</td>",
    "> {w}:\n> {v}\n",
    "{v} ({w})",
    "Why does ada@example.com ask for {w} {v}?",
    "10.0.0.1 said \"{w} {v}\" 3 times",
];

/// The value alone.
const ALONE: &[&str] = &[
    "{v}",
    "Kayıt 43: {v}; 12/26",
    "see {v}, 10.0.0.1",
    "«{v}»",
    "`{v}` was 1 of 2",
    "a,{v},b",
    "1. {v}\n2. none",
    "x={v}&y=1",
];

/// The value behind a name and a sign.
const ASSIGNED: &[&str] =
    &["{w}={v}", "{w}: {v};", "export {w}=\"{v}\"", "{\"{w}\": \"{v}\"}", "- {w} := `{v}`"];

/// The value with its own words.
const BY_ITSELF: &[&str] =
    &["{v}", "curl -H '{v}' x", "line 1\n{v}\nline 3", "he wrote: {v} and left", "\"{v}\""];

/// A sentence with the value in it.
pub(super) fn around(value: &Value, draw: &mut Draw) -> String {
    let frames = match value.announced {
        Announced::Freely if draw.either() => ALONE,
        Announced::Freely | Announced::ByWord => WITH_WORD,
        Announced::ByAssignment => ASSIGNED,
        Announced::ByItself => BY_ITSELF,
    };
    draw.pick(frames).replace("{w}", value.word).replace("{v}", &value.text)
}

//! Answers without a model: the sentences of the sources that hold most of the question, verbatim.

use kuhaku_index::Analyzer;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::citation::{disarm, tag};
use crate::question::{Question, terms};
use crate::retrieve::Hit;

/// How much a word counts that stands in a heading above the sentence, not in the sentence itself.
const HEADING_SHARE: f64 = 0.5;

/// The share of the question that a sentence must add to those before it.
const WORTHWHILE: f64 = 0.15;

/// A sentence that may become part of the answer.
struct Candidate {
    source: usize,
    text: String,
    held: Vec<f64>,
}

/// Picks at most `limit` sentences: each time the one that adds most of the question to those
/// picked before, ties to the better source and the earlier sentence; it ends when no sentence adds
/// enough. Nothing when no sentence holds
/// any of it.
pub(crate) fn extract(
    question: &Question,
    sources: &[&Hit],
    analyzer: &Analyzer,
    limit: usize,
) -> Option<String> {
    let mut candidates = Vec::new();
    for (source, hit) in sources.iter().enumerate() {
        let heading = [hit.chunk.headings.join("\n"), hit.chunk.title.clone()].join("\n");
        let heading = question.held(&terms(analyzer, &heading));
        for text in sentences(&hit.chunk.text) {
            let own = question.held(&terms(analyzer, &text));
            let held: Vec<f64> = own
                .iter()
                .zip(&heading)
                .map(|(own, above)| own.max(above * HEADING_SHARE))
                .collect();
            if own.iter().sum::<f64>() > 0.0 || held.iter().sum::<f64>() > 0.0 {
                candidates.push(Candidate { source, text, held });
            }
        }
    }
    let mut answered: Vec<f64> = Vec::new();
    let mut picked: Vec<String> = Vec::new();
    while picked.len() < limit {
        let gain = |candidate: &Candidate| -> f64 {
            let before = |at: usize| answered.get(at).copied().unwrap_or(0.0);
            let more = |(at, held): (usize, &f64)| (held - before(at)).max(0.0);
            candidate.held.iter().enumerate().map(more).sum()
        };
        let mut best: Option<(usize, f64)> = None;
        for (at, candidate) in candidates.iter().enumerate() {
            let gain = gain(candidate);
            let least = if picked.is_empty() { 0.0 } else { WORTHWHILE * question.total() };
            if gain > best.map_or(least, |(_, most)| most) {
                best = Some((at, gain));
            }
        }
        let Some((at, _)) = best else { break };
        let chosen = candidates.remove(at);
        answered.resize(chosen.held.len(), 0.0);
        for (sum, held) in answered.iter_mut().zip(&chosen.held) {
            *sum = sum.max(*held);
        }
        picked.push(format!("{} {}", chosen.text, tag(chosen.source + 1)));
    }
    (!picked.is_empty()).then(|| picked.join(" "))
}

/// The first sentence of the best source that has one: what is near in meaning may share no word with
/// the question.
pub(crate) fn opening(sources: &[&Hit]) -> Option<String> {
    let first = |hit: &&Hit| sentences(&hit.chunk.text).into_iter().next();
    let (at, text) = sources.iter().enumerate().find_map(|(at, hit)| Some((at, first(hit)?)))?;
    Some(format!("{text} {}", tag(at + 1)))
}

/// The sentences of a text, white space folded, without Markdown's line and emphasis markers, tags
/// disarmed. Headings, and the header rows of tables, are no sentences.
fn sentences(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut open = false;
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('|') && lines.peek().is_some_and(|next| is_rule(next)) {
            continue;
        }
        let (starts, content) = match unmark(line) {
            Line::Blank | Line::Heading => {
                open = false;
                continue;
            }
            Line::Item(content) => (true, content),
            Line::Text(content) => (!open, content),
        };
        match blocks.last_mut() {
            Some(block) if !starts => {
                block.push(' ');
                block.push_str(content);
            }
            _ => blocks.push(content.to_string()),
        }
        open = true;
    }
    let fold = |sentence: &str| {
        let plain = sentence.replace("**", "").replace("__", "").replace('`', "");
        plain.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    blocks
        .iter()
        .flat_map(|block| block.unicode_sentences())
        .map(|sentence| disarm(&fold(sentence)))
        .filter(|sentence| sentence.chars().any(char::is_alphanumeric))
        .collect()
}

enum Line<'a> {
    Blank,
    Heading,
    Item(&'a str),
    Text(&'a str),
}

/// A line that only draws: under a heading, between parts, below the header of a table.
fn is_rule(line: &str) -> bool {
    let draws = |c: char| matches!(c, '-' | '=' | '*' | '_' | '|' | ':' | ' ');
    !line.is_empty() && line.chars().all(draws)
}

/// What kind of line this is in Markdown, without its marker.
fn unmark(line: &str) -> Line<'_> {
    if line.is_empty() || is_rule(line) {
        return Line::Blank;
    }
    let hashes = line.trim_start_matches('#');
    if hashes.len() < line.len() && (hashes.is_empty() || hashes.starts_with(' ')) {
        return Line::Heading;
    }
    if let Some(cells) = line.strip_prefix('|') {
        return Line::Item(cells.trim_end_matches('|').trim());
    }
    for marker in ["- ", "* ", "+ ", "> "] {
        if let Some(content) = line.strip_prefix(marker) {
            return Line::Item(content.trim());
        }
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() < line.len()
        && let Some(content) = digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") "))
    {
        return Line::Item(content.trim());
    }
    Line::Text(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_join_and_markers_go() {
        let text = "# Leave\n\nEmployees get 25 days\nper year. Ask early.\n\n- First item [S3]\n\
                    2. **Second** `x`\n\n| a | b |\n|---|---|\n| c | d |\n";
        let expected = [
            "Employees get 25 days per year.",
            "Ask early.",
            "First item (S3)",
            "Second x",
            "c | d",
        ];
        let found = sentences(text);
        let found: Vec<&str> = found.iter().map(|sentence| sentence.trim()).collect();
        assert_eq!(found, expected);
    }
}

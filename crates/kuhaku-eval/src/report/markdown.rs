//! Summaries and comparisons as Markdown.

use std::fmt::Write;

use super::comparison::Comparison;
use super::summary::{MeasureSummary, Summary};

/// One line per summary, under columns from the first: its measures to three decimals, then p50 and
/// p95 in milliseconds to one. What was not measured is `–`. Without summaries, an empty text.
///
/// ```text
/// |  | nDCG@10 | p50 ms | p95 ms |
/// |---|---|---|---|
/// | bm25 | 0.688 | 0.2 | 0.4 |
/// ```
pub fn table(summaries: &[Summary]) -> String {
    let Some(first) = summaries.first() else { return String::new() };
    let mut text = String::from("|  |");
    for summary in &first.measures {
        push(&mut text, format_args!(" {} |", cell(&summary.measure.title())));
    }
    push(&mut text, format_args!(" p50 ms | p95 ms |\n|---|"));
    text.push_str(&"---|".repeat(first.measures.len() + 2));
    for summary in summaries {
        push(&mut text, format_args!("\n| {} |", cell(&summary.target)));
        for column in &first.measures {
            let mean = summary.measure(column.measure).and_then(|measure| measure.mean);
            push(&mut text, format_args!(" {} |", number(mean, 3)));
        }
        let latency = summary.latency;
        let p50 = number(latency.map(|latency| latency.p50_ms), 1);
        let p95 = number(latency.map(|latency| latency.p95_ms), 1);
        push(&mut text, format_args!(" {p50} | {p95} |"));
    }
    text.push('\n');
    text
}

impl Summary {
    /// The whole summary: means with intervals and counts, by category, by field, costs.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {} on {}\n\n", cell(&self.target), cell(&self.dataset));
        let failed: usize = self.failed.values().sum();
        push(&mut text, format_args!("{} samples, {failed} failed", self.samples));
        for (code, count) in &self.failed {
            push(&mut text, format_args!(", {count} by `{code}`"));
        }
        push(&mut text, format_args!("; data `{}`.\n", self.dataset_hash));
        measures(&mut text, "Measures", &self.measures);
        for (category, summaries) in &self.categories {
            measures(&mut text, &format!("Category {}", cell(category)), summaries);
        }
        if !self.fields.is_empty() {
            text.push_str("\n## Fields\n\n| field | precision | recall | F1 | made up |\n");
            text.push_str("|---|---|---|---|---|\n");
        }
        for (field, tally) in &self.fields {
            let [precision, recall, f1] =
                [tally.precision(), tally.recall(), tally.f1()].map(|it| number(it.value(), 3));
            let field = cell(field);
            let made_up = tally.hallucinated;
            push(
                &mut text,
                format_args!("| {field} | {precision} | {recall} | {f1} | {made_up} |\n"),
            );
        }
        if let Some(latency) = self.latency {
            let (p50, p95) = (latency.p50_ms, latency.p95_ms);
            push(&mut text, format_args!("\nLatency: p50 {p50:.1} ms, p95 {p95:.1} ms.\n"));
        }
        if self.tokens.reported > 0 {
            let [input, output] = [self.tokens.input, self.tokens.output]
                .map(|count| count.map_or_else(|| "–".to_owned(), |count| count.to_string()));
            let reported = self.tokens.reported;
            push(
                &mut text,
                format_args!("\nTokens: {input} in, {output} out, over {reported} samples.\n"),
            );
        }
        text
    }
}

fn measures(text: &mut String, title: &str, summaries: &[MeasureSummary]) {
    push(text, format_args!("\n## {title}\n\n"));
    text.push_str("| measure | mean | 95 % interval | measured | not measured |\n");
    text.push_str("|---|---|---|---|---|\n");
    for summary in summaries {
        let interval = summary.interval.map_or_else(
            || "–".to_owned(),
            |interval| format!("{:.3} to {:.3}", interval.low, interval.high),
        );
        let not: usize = summary.unmeasured.values().sum();
        let (measure, mean) = (summary.measure.title(), number(summary.mean, 3));
        let measured = summary.measured;
        push(text, format_args!("| {measure} | {mean} | {interval} | {measured} | {not} |\n"));
    }
}

impl Comparison {
    /// The comparison as a table, and the samples that moved most.
    pub fn to_markdown(&self) -> String {
        let (baseline, candidate) = (cell(&self.baseline), cell(&self.candidate));
        let mut text = format!("# {candidate} against {baseline} on {}\n\n", cell(&self.dataset));
        text.push_str(
            "| measure | baseline | candidate | difference | 95 % interval | p | p (Holm) ",
        );
        text.push_str("| p (t) | effect | wins | ties | losses |\n");
        text.push_str(&format!("|{}\n", "---|".repeat(12)));
        for compared in &self.measures {
            let interval = compared.interval.map_or_else(
                || "–".to_owned(),
                |interval| format!("{:+.3} to {:+.3}", interval.low, interval.high),
            );
            let title = compared.measure.title();
            let [before, after] =
                [compared.baseline, compared.candidate].map(|mean| number(mean, 3));
            let difference =
                compared.difference.map_or_else(|| "–".to_owned(), |by| format!("{by:+.3}"));
            let [p, adjusted, t, effect] =
                [compared.p, compared.p_adjusted, compared.p_t, compared.effect]
                    .map(|value| number(value, 3));
            let (wins, ties, losses) = (compared.wins, compared.ties, compared.losses);
            push(
                &mut text,
                format_args!(
                    "| {title} | {before} | {after} | {difference} | {interval} | {p} | {adjusted} \
                     | {t} | {effect} | {wins} | {ties} | {losses} |\n"
                ),
            );
        }
        if !self.not_shared.is_empty() {
            let titles: Vec<String> = self.not_shared.iter().map(|it| it.title()).collect();
            push(&mut text, format_args!("\nNot in both runs: {}.\n", titles.join(", ")));
        }
        for compared in self.measures.iter().filter(|compared| !compared.most_moved.is_empty()) {
            push(&mut text, format_args!("\nMoved most by {}:\n\n", compared.measure.title()));
            for moved in &compared.most_moved {
                let (before, after) = (moved.baseline, moved.candidate);
                push(
                    &mut text,
                    format_args!("- `{}`: {before:.3} to {after:.3}\n", cell(&moved.id)),
                );
            }
        }
        text
    }
}

/// Names come from outside and must not break the table.
fn cell(text: &str) -> String {
    let text: String =
        text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    text.replace('|', "\\|").replace('`', "'")
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"))
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = text.write_fmt(arguments);
}

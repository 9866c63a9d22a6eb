//! `kuhaku eval`.

use std::path::Path;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use kuhaku::eval::{
    BeirFolder, Comparison, ComparisonSettings, Dataset, Evaluation, Measure, Run, Scorer, Summary,
    Target, Verdict,
};
use kuhaku::{
    DocumentNames, IndexTarget, RagSettings, RagTarget, Result, Roles, Scope, Section as _,
    index_corpus,
};
use serde_json::json;

use crate::args::{EvalCommand, EvalCompareArgs, EvalRunArgs};
use crate::console::Console;
use crate::context::Context;
use crate::exit::Exit;

/// The measures of a ranking unless others are asked for.
const OF_RANKINGS: &str = "ndcg@10,recall@100,mrr@10,success@1";

/// The measures of answers unless others are asked for.
const OF_ANSWERS: &str = "success@1,success@4,recall@4,mrr,citation_precision,citation_recall,\
                          abstention_precision,abstention_recall";

pub(crate) async fn run(command: &EvalCommand, context: &Context<'_>) -> Result<Exit> {
    match command {
        EvalCommand::Run(args) => measure(args, context).await,
        EvalCommand::Compare(args) => compare(args, context.console),
        EvalCommand::Fetch(args) => super::fetch::run(args, context).await,
    }
}

/// What is run: a dataset, a target for it, and the measures that fit both.
struct Plan {
    dataset: Dataset,
    target: Box<dyn Target>,
    measures: &'static str,
}

async fn measure(args: &EvalRunArgs, context: &Context<'_>) -> Result<Exit> {
    let mut plan = if args.dataset.is_dir() {
        beir(args, context).await?
    } else {
        questions(args, context).await?
    };
    if let Some(count) = args.sample {
        plan.dataset = plan.dataset.sample(count, args.seed);
    }
    let names = args.measures.as_deref().unwrap_or(plan.measures);
    let mut measures = Measure::list(names)?;
    for gate in args.gates.min.iter().chain(&args.gates.max) {
        if !measures.contains(&gate.measure) {
            measures.push(gate.measure);
        }
    }
    let bar = ProgressBar::new(plan.dataset.cases().len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len}") {
        bar.set_style(style);
    }
    let mut evaluation = Evaluation::new(&plan.dataset, Scorer::new(measures))
        .concurrency(args.concurrency)
        .seed(args.seed)
        .on_progress(|progress| bar.set_position(progress.done as u64));
    if args.keep_answers {
        evaluation = evaluation.keep_answers();
    }
    evaluation = match &args.out {
        Some(path) if args.resume => evaluation.resume(path),
        Some(path) => evaluation.write_to(path),
        None => evaluation,
    };
    let run = evaluation.run(plan.target.as_ref()).await?;
    bar.finish_and_clear();
    let summary = Summary::new(&run);
    let gates = &args.gates;
    let mut verdicts = summary.at_least(&gates.min);
    verdicts.extend(summary.at_most(&gates.max));
    if let Some(path) = &gates.no_worse_than {
        let settings = ComparisonSettings::default();
        verdicts.extend(Comparison::new(&Run::read(path)?, &run, settings)?.no_worse(gates.alpha));
    }
    if context.console.json() {
        let conditions = json_verdicts(&verdicts);
        context.console.value(&json!({
            "version": 1, "summary": summary, "conditions": conditions,
        }));
    } else {
        context.console.lines(summary.to_markdown().trim_end());
    }
    Ok(judge(&verdicts, context.console))
}

/// A set in BEIR's layout: its corpus, searched.
async fn beir(args: &EvalRunArgs, context: &Context<'_>) -> Result<Plan> {
    let folder = BeirFolder::open(&args.dataset)?;
    let dataset = folder.dataset(&args.split)?;
    let settings = RagSettings::load(&context.sources)?;
    let index = Arc::new(index_corpus(&folder, &settings).await?);
    let scope = Scope::with_roles(Roles::new(&args.roles));
    let target = IndexTarget::new(index, scope, args.depth as usize, settings.bm25());
    Ok(Plan { dataset, target: Box::new(target), measures: OF_RANKINGS })
}

/// Questions in a file: the index of the command, asked or searched.
async fn questions(args: &EvalRunArgs, context: &Context<'_>) -> Result<Plan> {
    let dataset = if is_csv(&args.dataset) {
        Dataset::csv(&args.dataset)?
    } else {
        let loaded = Dataset::golden(&args.dataset)?;
        for warning in &loaded.warnings {
            context.console.note(&format!("warning: {warning}"));
        }
        loaded.dataset
    };
    let rag = context.open(context.builder_to_find(None, false)?.create(false)).await?;
    let scope = Scope::with_roles(Roles::new(&args.roles));
    let grades = dataset.cases().iter().filter_map(|case| case.expected.grades.as_ref());
    let names = DocumentNames::new(grades.flat_map(|grades| grades.keys().cloned()));
    let (target, measures) = if args.search {
        (RagTarget::searching(rag, scope), OF_RANKINGS)
    } else {
        (RagTarget::answering(rag, scope), OF_ANSWERS)
    };
    let mut target = target.names(names);
    if let Some(top_k) = args.top_k {
        target = target.top_k(top_k as usize);
    }
    Ok(Plan { dataset, target: Box::new(target), measures })
}

fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("csv"))
}

fn compare(args: &EvalCompareArgs, console: &Console) -> Result<Exit> {
    let (baseline, candidate) = (Run::read(&args.baseline)?, Run::read(&args.candidate)?);
    let mut settings = ComparisonSettings::default();
    settings.seed = args.seed;
    let comparison = Comparison::new(&baseline, &candidate, settings)?;
    let verdicts = if args.no_worse { comparison.no_worse(args.alpha) } else { Vec::new() };
    if console.json() {
        let conditions = json_verdicts(&verdicts);
        console.value(&json!({
            "version": 1, "comparison": comparison, "conditions": conditions,
        }));
    } else {
        console.lines(comparison.to_markdown().trim_end());
    }
    Ok(judge(&verdicts, console))
}

fn json_verdicts(verdicts: &[Verdict]) -> Vec<serde_json::Value> {
    verdicts.iter().map(|v| json!({ "passed": v.passed, "reason": v.reason })).collect()
}

/// Says which conditions were met, on standard error.
fn judge(verdicts: &[Verdict], console: &Console) -> Exit {
    for verdict in verdicts {
        let word = if verdict.passed { "met" } else { "not met" };
        console.note(&format!("{word}: {}", verdict.reason));
    }
    if verdicts.iter().all(|verdict| verdict.passed) { Exit::Done } else { Exit::Unmet }
}

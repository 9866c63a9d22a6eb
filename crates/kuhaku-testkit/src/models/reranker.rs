//! A reranker without a model.

use std::collections::BTreeSet;
use std::sync::Mutex;

use async_trait::async_trait;
use kuhaku_core::{Error, ErrorKind, Probability, Reranker, Result};

use super::lock;

/// A reranker whose probability is the share of the question's distinct words that a text holds,
/// whatever their case. It keeps the texts of each call.
///
/// ```
/// use kuhaku_core::Reranker as _;
/// use kuhaku_testkit::OverlapReranker;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let reranker = OverlapReranker::new();
/// let judged = reranker.rerank("late parcels", &["Parcels are here.", "Salaries"]).await?;
/// assert_eq!(judged[0].get(), 0.5);
/// assert_eq!((judged[1].get(), reranker.calls().len()), (0.0, 1));
/// # Ok::<(), kuhaku_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Default)]
pub struct OverlapReranker {
    calls: Mutex<Vec<Vec<String>>>,
    ends: Ends,
}

/// How calls end.
#[derive(Debug, Default)]
enum Ends {
    #[default]
    Well,
    Failing,
    Never,
    Short,
}

impl OverlapReranker {
    /// One that judges.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that fails, always.
    pub fn failing() -> Self {
        Self { ends: Ends::Failing, ..Self::default() }
    }

    /// One that never gives an answer.
    pub fn hanging() -> Self {
        Self { ends: Ends::Never, ..Self::default() }
    }

    /// One that leaves out the last text, against its contract.
    pub fn short() -> Self {
        Self { ends: Ends::Short, ..Self::default() }
    }

    /// The texts of each call so far, oldest first.
    pub fn calls(&self) -> Vec<Vec<String>> {
        lock(&self.calls).clone()
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[async_trait]
impl Reranker for OverlapReranker {
    fn id(&self) -> &str {
        "test:overlap"
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<Probability>> {
        lock(&self.calls).push(texts.iter().map(|text| (*text).to_owned()).collect());
        match self.ends {
            Ends::Never => std::future::pending::<()>().await,
            Ends::Failing => {
                return Err(Error::new(ErrorKind::Unavailable, "rerank", "it was told to fail"));
            }
            Ends::Well | Ends::Short => {}
        }
        let query = words(query);
        let share = |text: &&str| {
            let held = words(text).intersection(&query).count();
            Probability::new(held as f64 / query.len().max(1) as f64)
        };
        let mut judged = texts.iter().map(share).collect::<Result<Vec<_>>>()?;
        if matches!(self.ends, Ends::Short) {
            judged.pop();
        }
        Ok(judged)
    }
}

//! R4: what a caller gets is the same, to the last bit, as from an index that never held the rest.

use std::fmt;

use kuhaku_index::{Fault, Fingerprint, Language, Tokenizer, VectorSpace};

use super::history::{self, Step};
use super::observation::Observation;
use super::{IndexFactory, MemoryFactory, Subject, Violation};
use crate::random::Random;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NonInterference {
    /// Random histories.
    pub cases: usize,
    /// Where the random numbers begin.
    pub seed: u64,
    /// Whether histories close and open the index again.
    pub reopen: bool,
    /// Whether the engine in memory must answer the same, to the last bit: finds what is lost alike
    /// with and without hidden documents.
    pub beside_memory: bool,
}

impl NonInterference {
    /// So many histories, without re-opening.
    pub fn cases(cases: usize) -> Self {
        Self { cases, seed: 1, reopen: false, beside_memory: false }
    }

    /// With re-opening.
    #[must_use]
    pub fn reopening(mut self) -> Self {
        self.reopen = true;
        self
    }

    /// With the engine in memory beside it.
    #[must_use]
    pub fn beside_memory(mut self) -> Self {
        self.beside_memory = true;
        self
    }

    /// Begins elsewhere.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

/// What a run has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proof {
    /// Histories compared.
    pub cases: usize,
    /// Of these, those in which the caller found something.
    pub with_hits: usize,
    /// Of these, those in which an index with statistics over everything would have answered
    /// differently: the cases that can fail (D5).
    pub telling: usize,
    /// The same of an index that takes the nearest vectors of everything and chooses from these.
    pub telling_by_vectors: usize,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |telling| 100 * telling / self.cases.max(1);
        write!(
            f,
            "{} histories, {} with hits, {} % of them answered differently by an index with global \
             statistics, {} % by one whose nearest vectors are of everything",
            self.cases,
            self.with_hits,
            share(self.telling),
            share(self.telling_by_vectors),
        )
    }
}

async fn run(factory: &dyn IndexFactory, steps: &[Step]) -> Result<Box<dyn Subject>, Violation> {
    let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none")
        .embedder("random", history::DIMENSION);
    let mut subject = factory.make(fingerprint, history::key()).await?;
    for step in steps {
        match step {
            Step::Apply(batch) => {
                subject.index().apply(batch.clone()).await?;
            }
            Step::Release(id) => {
                subject.index().maintenance().release(id).await?;
            }
            Step::Embed(id, hash, vector) => {
                let vectors = vec![(id.clone(), *hash, vector.clone())];
                let space = VectorSpace::new("random", history::DIMENSION);
                subject.index().maintenance().stage_vectors(&space, vectors).await?;
                subject.index().maintenance().adopt_embedder(Some(space)).await?;
            }
            Step::Reopen => subject.reopen().await?,
        }
    }
    Ok(subject)
}

/// Compares random histories with their projections.
///
/// # Errors
/// The first [`Violation`], with the number of its case.
pub async fn non_interference(
    factory: &dyn IndexFactory,
    settings: NonInterference,
) -> Result<Proof, Violation> {
    let naive = MemoryFactory::broken(Fault::GlobalStatistics);
    let naive_by_vectors = MemoryFactory::broken(Fault::PoolCutBeforeScope);
    let ids = history::all_ids()?;
    let mut proof = Proof::default();
    for case in 0..settings.cases {
        let mut random = Random::new(settings.seed.wrapping_mul(1 << 32).wrapping_add(case as u64));
        let steps = history::history(&mut random, settings.reopen)?;
        let scope = history::scope(&mut random);
        let queries = [(); 3].map(|()| history::query(&mut random));
        let dense: Vec<_> =
            (0..3).map(|_| history::dense_query(&mut random)).collect::<Result<_, _>>()?;
        let observe = async |factory: &dyn IndexFactory, steps: &[Step]| {
            let subject = run(factory, steps).await?;
            let mut seen = Vec::new();
            for handle in subject.handles() {
                seen.push(Observation::of(handle, &scope, &queries, &dense, &ids).await?);
            }
            Ok::<_, Violation>(seen)
        };
        let seen = observe(factory, &steps).await?;
        let projected = history::projected(&steps, &scope);
        let mut absent = observe(factory, &projected).await?;
        if settings.beside_memory {
            absent.extend(observe(&MemoryFactory::new(), &projected).await?);
        }
        let Some((whole, others)) = seen.split_first() else { continue };
        for other in others.iter().chain(&absent) {
            if let Some(difference) = whole.difference(other) {
                return Err(Violation {
                    check: format!("non-interference, case {case}, seed {}", settings.seed),
                    seen: difference,
                });
            }
        }
        proof.cases += 1;
        proof.with_hits += usize::from(whole.has_hits());
        // Hits only: statistics differ more often, but a caller reads hits.
        let naive = observe(&naive, &steps).await?;
        proof.telling += usize::from(naive.iter().any(|naive| naive.hits != whole.hits));
        let naive = observe(&naive_by_vectors, &steps).await?;
        let differs = naive.iter().any(|naive| naive.nearest != whole.nearest);
        proof.telling_by_vectors += usize::from(differs);
    }
    Ok(proof)
}

//! R4 through the whole pipeline: what a caller gets is the same, to the last bit, as if the chunks
//! that it may not see had never been there. By words, by vectors, by both, with all stages behind.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::print_stdout, reason = "the proof is shown")]

use kuhaku_core::Embedder;
use kuhaku_index::Fault;
use kuhaku_testkit::index::{GraphsFactory, IndexFactory, MemoryFactory};
use kuhaku_testkit::rag::{PipelineModels, PipelineProof, pipeline_non_interference};
use kuhaku_testkit::{MixingEmbedder, WordEmbedder};

const DIMENSION: usize = 16;

async fn compare(
    engine: &dyn IndexFactory,
    embedder: impl Embedder + 'static,
    cases: usize,
) -> PipelineProof {
    let models = PipelineModels::new(embedder, DIMENSION);
    let proof = pipeline_non_interference(engine, &models, cases).await.unwrap();
    println!("{proof}");
    proof
}

/// An engine gives nothing away, and the cases are such that it could.
async fn holds(engine: &dyn IndexFactory, cases: usize) {
    let proof = compare(engine, WordEmbedder::new(DIMENSION), cases).await;
    assert_eq!((proof.differ, &proof.first), (0, &None));
    assert!(proof.found * 5 > cases * 4 && proof.hidden * 5 > cases * 4, "{proof}");
}

/// R4, D5: the share of cases in which a pool that is cut before the scope acts would show is that of
/// [`a_pool_that_is_cut_before_the_scope_acts_is_found_out`], at least half of them.
#[tokio::test]
async fn hidden_chunks_change_nothing_that_vectors_fusion_and_the_stages_give() {
    holds(&MemoryFactory::new(), 2_000).await;
}

/// R4, D8
#[tokio::test]
async fn hidden_chunks_change_nothing_of_answers_by_graphs() {
    holds(&GraphsFactory, 500).await;
}

#[cfg(feature = "sqlite")]
mod on_disk {
    use kuhaku_testkit::index::SqliteFactory;

    use super::*;

    /// R4, through closing and opening again.
    #[tokio::test]
    async fn hidden_chunks_change_nothing_of_answers_from_disk() {
        holds(&SqliteFactory::new(), 60).await;
    }

    /// R4, D8
    #[tokio::test]
    async fn hidden_chunks_change_nothing_of_answers_by_graphs_from_disk() {
        holds(&SqliteFactory::with_graphs(), 60).await;
    }
}

/// D5: a seeded fault.
#[tokio::test]
async fn a_pool_that_is_cut_before_the_scope_acts_is_found_out() {
    let broken = MemoryFactory::broken(Fault::PoolCutBeforeScope);
    let proof = compare(&broken, WordEmbedder::new(DIMENSION), 200).await;
    assert!(proof.differ >= 100, "{proof}");
}

/// D5: a seeded fault.
#[tokio::test]
async fn one_scale_for_all_codes_is_found_out() {
    let broken = MemoryFactory::broken(Fault::GlobalVectorScale);
    let proof = compare(&broken, WordEmbedder::new(DIMENSION), 200).await;
    assert!(proof.differ >= 1, "{proof}");
}

/// D5, D7: a seeded fault.
#[tokio::test]
async fn an_embedder_whose_vectors_depend_on_their_batch_is_found_out() {
    let proof = compare(&MemoryFactory::new(), MixingEmbedder::new(DIMENSION), 200).await;
    assert!(proof.differ >= 100, "{proof}");
}

//! The contract of backends.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_hydrag::{BackendHit, HeadQuery, Result, Scope, SearchBackend};

/// Says which of its methods was called.
#[derive(Debug)]
struct Telling(Scope);

fn told(method: &str) -> Vec<BackendHit> {
    vec![BackendHit::new(method, method)]
}

#[async_trait]
impl SearchBackend for Telling {
    fn scope(&self) -> &Scope {
        &self.0
    }

    async fn semantic(&self, _query: &HeadQuery) -> Result<Vec<BackendHit>> {
        Ok(told("semantic"))
    }

    async fn keyword(&self, _query: &HeadQuery) -> Result<Vec<BackendHit>> {
        Ok(told("keyword"))
    }

    async fn hybrid(&self, _query: &HeadQuery) -> Result<Vec<BackendHit>> {
        Ok(told("hybrid"))
    }

    async fn crag(&self, _query: &HeadQuery) -> Result<Option<Vec<BackendHit>>> {
        Ok(Some(told("crag")))
    }

    async fn graph(&self, _query: &HeadQuery) -> Result<Option<Vec<BackendHit>>> {
        Ok(Some(told("graph")))
    }

    async fn rewrite(&self, question: &str) -> Result<Option<String>> {
        Ok(Some(question.to_uppercase()))
    }
}

/// A pointer that forgot to pass on a provided method would answer "not supported" in its place.
#[tokio::test]
async fn every_method_is_reached_through_pointers_and_as_a_trait_object() {
    let shared: Arc<dyn SearchBackend> = Arc::new(Telling(Scope::anonymous()));
    let boxed: Box<dyn SearchBackend> = Box::new(Arc::clone(&shared));
    let query = HeadQuery::new("tea", 3);
    for backend in [&shared as &dyn SearchBackend, &boxed] {
        assert_eq!(backend.scope(), &Scope::anonymous());
        assert_eq!(backend.semantic(&query).await.unwrap(), told("semantic"));
        assert_eq!(backend.keyword(&query).await.unwrap(), told("keyword"));
        assert_eq!(backend.hybrid(&query).await.unwrap(), told("hybrid"));
        assert_eq!(backend.crag(&query).await.unwrap(), Some(told("crag")));
        assert_eq!(backend.graph(&query).await.unwrap(), Some(told("graph")));
        assert_eq!(backend.rewrite("tea").await.unwrap().as_deref(), Some("TEA"));
    }
}

#[test]
fn a_score_that_is_no_number_counts_as_none() {
    for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(BackendHit::new("a", "b").score(broken).score, None);
    }
    assert_eq!(BackendHit::new("a", "b").score(0.0).score, Some(0.0));
}

//! One token for all callers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use kuhaku_core::{Error, HttpClient, Result, Runtime};
use secrecy::SecretString;

use super::exchange;
use super::identity::Identity;
use super::token::Token;
use crate::credentials::Credentials;

/// A refresh under way. Whoever waits for it moves it on, so it goes on when the first is dropped.
type Refresh = Shared<BoxFuture<'static, Result<Token, Arc<Error>>>>;

#[derive(Default)]
struct Held {
    token: Option<Token>,
    refresh: Option<Refresh>,
}

/// Application-default credentials. Clones share their token; it is fetched when first needed,
/// kept, and renewed before it expires. Callers that need one at the same time share one request.
#[derive(Clone)]
pub(crate) struct ApplicationDefault {
    identity: Arc<Identity>,
    client: HttpClient,
    runtime: Runtime,
    held: Arc<Mutex<Held>>,
}

impl fmt::Debug for ApplicationDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplicationDefault")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl ApplicationDefault {
    /// Credentials of an identity; nothing is sent yet.
    pub(crate) fn new(identity: Identity, client: HttpClient, runtime: Runtime) -> Self {
        Self { identity: Arc::new(identity), client, runtime, held: Arc::default() }
    }

    async fn token(&self) -> Result<Token> {
        let (refresh, old) = {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            let now = self.runtime.now();
            match &held.token {
                Some(token) if token.is_fresh(now) => return Ok(token.clone()),
                _ => {}
            }
            let old = held.token.clone().filter(|token| token.is_valid(now));
            let refresh = held.refresh.get_or_insert_with(|| self.refresh());
            (refresh.clone(), old)
        };
        let outcome = refresh.clone().await;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.refresh.as_ref().is_some_and(|current| current.ptr_eq(&refresh)) {
            held.refresh = None;
            if let Ok(token) = &outcome {
                held.token = Some(token.clone());
            }
        }
        match (outcome, old) {
            (Ok(token), _) => Ok(token),
            // It was renewed early: there is time to try again.
            (Err(_), Some(old)) => Ok(old),
            (Err(error), None) => Err(copied(error)),
        }
    }

    fn refresh(&self) -> Refresh {
        let (identity, client) = (Arc::clone(&self.identity), self.client.clone());
        let runtime = self.runtime.clone();
        let asked =
            async move { exchange::token(&client, &runtime, &identity).await.map_err(Arc::new) };
        asked.boxed().shared()
    }
}

/// The error for one of those who waited.
fn copied(error: Arc<Error>) -> Error {
    let mut copy = Error::new(*error.kind(), error.tried().to_owned(), error.wrong().to_owned())
        .with_status(error.status());
    if let Some(next) = error.next_step() {
        copy = copy.next(next.to_owned());
    }
    if let Some(wait) = error.retry_after() {
        copy = copy.with_retry_after(wait);
    }
    if !error.is_outage() {
        copy = copy.not_an_outage();
    }
    copy.caused_by(error)
}

#[async_trait]
impl Credentials for ApplicationDefault {
    async fn header(&self) -> Result<Option<(&'static str, SecretString)>> {
        Ok(Some(("authorization", self.token().await?.header)))
    }

    /// Forgets the token, unless it was renewed since.
    async fn renew(&self, refused: &SecretString) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.token.take_if(|token| token.is(refused));
        true
    }
}

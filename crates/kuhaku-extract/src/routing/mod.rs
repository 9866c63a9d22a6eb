//! Choosing between several schemas.

mod choose;
mod combined;
mod route;

use std::collections::BTreeMap;
use std::sync::Arc;

use kuhaku_core::{TraceId, Usage};
use serde_json::Value;
use tracing::Instrument as _;

use self::choose::chooser;
pub use self::route::Route;
use crate::context::{Given, bounded};
use crate::error::{Error, ErrorKind, Result};
use crate::extractor::{Extractor, begin, end};
use crate::limit::Limit;
use crate::observed::{self, Event};
use crate::outcome::ExtractionStatus;
use crate::parts::Core;
use crate::record::RequestRecord;
use crate::request::{ExtractRequest, Prior};
use crate::result::Extraction;
use crate::settings::SecuritySettings;

/// How a router asks the model, where no [`Route`] has chosen before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RouteMode {
    /// In one call where the model to prefer holds replies to a schema by itself, else in two.
    #[default]
    Auto,
    /// In two calls: one chooses, one extracts.
    Choose,
    /// In one call that chooses and extracts.
    Combined,
}

/// Chooses for each text which of several extractors it is for. Cheap to clone, and without state.
///
/// Give the last result as prior, whatever its schema: what is known under the other schemas travels in
/// [`Extraction::earlier`], so that an interrupted order is picked up again.
///
/// ```
/// use std::sync::Arc;
/// use kuhaku_extract::{Extractor, Fields, Route, Router, Schema};
/// # use kuhaku_core::LlmProvider;
/// # fn build(model: Arc<dyn LlmProvider>) -> kuhaku_extract::Result<Router> {
/// let order = Schema::from_fields(Fields::new().text("product").number("quantity"))?;
/// let order = order.named("order")?.described("an order of goods")?;
/// let complaint = Schema::from_fields(Fields::new().text("what"))?;
/// let complaint = complaint.named("complaint")?.described("a complaint about an order")?;
/// let order = Extractor::builder(order, model.clone()).build()?;
/// let complaint = Extractor::builder(complaint, model).build()?;
/// Router::builder([order, complaint])
///     .route(Route::keywords("complaint", ["complain", "complaint"])?)
///     .build()
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Router {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    /// At least one, of distinct names. The first one's models, settings, audit and runtime are those
    /// of the router.
    extractors: Vec<Extractor>,
    routes: Vec<Route>,
    mode: RouteMode,
    instructions: Option<String>,
    chooser: Extractor,
}

/// Makes a [`Router`]; begun by [`Router::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RouterBuilder {
    extractors: Vec<Extractor>,
    routes: Vec<Route>,
    mode: RouteMode,
    instructions: Option<String>,
}

impl RouterBuilder {
    /// Adds a route that is tried before the model is asked, behind those that were added before.
    pub fn route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    /// Sets how the model is asked.
    pub fn mode(mut self, mode: RouteMode) -> Self {
        self.mode = mode;
        self
    }

    /// Gives the model the application's own rules for the choice.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// The finished router. Masking and the injection guard are on for all of it when they are on for
    /// one of its extractors.
    ///
    /// # Errors
    /// `extract.configuration` when there is no extractor, or two of one name.
    pub fn build(self) -> Result<Router> {
        let Self { mut extractors, routes, mode, instructions } = self;
        guard_alike(&mut extractors);
        let tried = "build a router";
        let Some(first) = extractors.first() else {
            return Err(Error::new(ErrorKind::Configuration, tried, "it has no extractors")
                .next("give it one for each kind of text"));
        };
        for (at, extractor) in extractors.iter().enumerate() {
            let name = extractor.schema().name();
            if extractors.iter().take(at).any(|other| other.schema().name() == name) {
                let wrong = format!("two of its schemas are named `{name}`");
                return Err(Error::new(ErrorKind::Configuration, tried, wrong)
                    .next("give one of them another name with `Schema::named`"));
            }
        }
        let chooser = chooser(first, &extractors, instructions.as_deref())?;
        Ok(Router { parts: Arc::new(Parts { extractors, routes, mode, instructions, chooser }) })
    }
}

/// The choice reads a text for all of them: what one has masked or screened, all have.
fn guard_alike(extractors: &mut [Extractor]) {
    let mut security = SecuritySettings::default();
    for extractor in extractors.iter() {
        security.sanitize |= extractor.core.security.sanitize;
        security.input_guard |= extractor.core.security.input_guard;
    }
    for extractor in extractors {
        Arc::make_mut(&mut extractor.core).security = security.clone();
    }
}

/// One request on its way to an extractor.
struct Routing<'a> {
    request: &'a ExtractRequest,
    /// What is known, by schema.
    earlier: BTreeMap<String, Value>,
    limit: Limit,
    trace_id: TraceId,
}

/// What the choice came to.
struct Chosen {
    name: Option<String>,
    /// A result that stands in the place of a choice: the text was refused.
    blocked: Option<Extraction>,
    attempts: u32,
    usage: Usage,
}

impl Router {
    /// Starts with the extractors to choose between.
    pub fn builder(extractors: impl IntoIterator<Item = Extractor>) -> RouterBuilder {
        RouterBuilder {
            extractors: extractors.into_iter().collect(),
            routes: Vec::new(),
            mode: RouteMode::Auto,
            instructions: None,
        }
    }

    /// Chooses a schema and extracts. A text that fits none is no error: its status is
    /// [`ExtractionStatus::NoMatch`].
    ///
    /// # Errors
    /// As for [`Extractor::extract`]; `extract.component` when a route fails or names a schema that
    /// there is not; `extract.configuration` when the prior is no result.
    pub async fn extract(&self, request: impl Into<ExtractRequest>) -> Result<Extraction> {
        let request = &request.into();
        let (mut record, id) = begin(self.core(), Event::Route, request);
        let bound = id.as_ref().cloned().unwrap_or_else(|_| TraceId::unknown());
        let extracting = async move {
            let span = record.span();
            let working = async { self.answer(request, id?, &mut record).await };
            let outcome = working.instrument(span).await;
            end(record, outcome).await
        };
        bound.bind(extracting).await
    }

    /// The name of the schema that a text is for, without extracting; none when it fits none.
    ///
    /// # Errors
    /// As for [`extract`](Self::extract), and `extract.blocked` when the text is refused.
    pub async fn route(&self, request: impl Into<ExtractRequest>) -> Result<Option<String>> {
        let request = request.into();
        let core = self.core();
        let seconds = core.settings.request_timeout_seconds;
        let limit = Limit::new(std::time::Instant::now(), seconds);
        let trace_id = request.trace_id.clone().unwrap_or_else(TraceId::unknown);
        let routing = self.routing(&request, limit, trace_id)?;
        if request.text.trim().is_empty() {
            return Ok(None);
        }
        if let Some(name) = self.by_route(&request)? {
            return Ok(Some(name.to_owned()));
        }
        let chosen = limit.of(self.choose(&routing)).await?;
        if chosen.blocked.is_some() {
            let wrong = "it looks like an attack on the instructions";
            return Err(Error::new(ErrorKind::Blocked, "route the text", wrong)
                .next("have the text written anew, or turn extraction.security.input_guard off")
                .with_usage(chosen.usage));
        }
        Ok(chosen.name)
    }

    /// What a text gives, as evaluations compare it with a label: an object with `schema` and `data`,
    /// both null when it fits no schema.
    ///
    /// # Errors
    /// As for [`extract`](Self::extract).
    pub async fn evaluate_sample(&self, text: &str) -> Result<Value> {
        let result = self.extract(text).await?;
        Ok(serde_json::json!({"schema": result.schema, "data": result.data}))
    }

    fn core(&self) -> &Core {
        &self.parts.chooser.core
    }

    async fn answer(
        &self,
        request: &ExtractRequest,
        trace_id: TraceId,
        record: &mut RequestRecord,
    ) -> Result<Extraction> {
        let core = self.core();
        record.text(core, &request.text);
        let limit = Limit::new(record.begun(), core.settings.request_timeout_seconds);
        let routing = self.routing(request, limit, trace_id)?;
        let mut earlier = routing.earlier.clone();
        let mut result = limit.of(self.respond(&routing)).await?;
        if let (Some(name), true) = (&result.schema, result.state.is_some()) {
            earlier.remove(name);
        }
        result.earlier = earlier;
        Ok(result)
    }

    async fn respond(&self, routing: &Routing<'_>) -> Result<Extraction> {
        let request = routing.request;
        if request.text.trim().is_empty() {
            return Ok(routing.no_match());
        }
        if let Some(name) = self.by_route(request)? {
            return self.extract_by(name, routing, Usage::default()).await;
        }
        if self.combines() {
            return self.ask_at_once(routing).await;
        }
        let stage = observed::route(&self.core().runtime);
        let span = stage.span().clone();
        let chosen = stage.run(self.choose(routing)).await?;
        span.record("kuhaku.route", chosen.name.as_deref());
        let mut result = match (chosen.blocked, &chosen.name) {
            (Some(blocked), _) => return Ok(blocked),
            (None, None) => routing.no_match(),
            (None, Some(name)) => {
                let extracted = self.extract_by(name, routing, chosen.usage).await;
                extracted.map_err(|error| {
                    let used = chosen.usage.plus(error.usage());
                    error.with_usage(used)
                })?
            }
        };
        result.attempts += chosen.attempts;
        result.usage = chosen.usage.plus(result.usage);
        Ok(result)
    }

    fn combines(&self) -> bool {
        match self.parts.mode {
            RouteMode::Auto => self.core().is_native(),
            RouteMode::Choose => false,
            RouteMode::Combined => true,
        }
    }

    /// # Errors
    /// When the text is too long, or the prior is no result of a router.
    fn routing<'a>(
        &self,
        request: &'a ExtractRequest,
        limit: Limit,
        trace_id: TraceId,
    ) -> Result<Routing<'a>> {
        bounded(self.core(), request)?;
        let mut earlier = BTreeMap::new();
        match &request.prior {
            None => {}
            Some(Prior::Result(result)) => {
                earlier.clone_from(&result.earlier);
                if let (Some(schema), Some(state)) = (&result.schema, &result.state) {
                    earlier.insert(schema.clone(), state.clone());
                }
                // What no extractor here knows is nothing to carry along.
                let known = |name: &String| self.extractor(name).is_some();
                earlier.retain(|name, _| known(name));
            }
            Some(Prior::Data(_)) => {
                let wrong = "the prior is bare data, which do not say of which schema they are";
                return Err(Error::new(ErrorKind::Configuration, "route the text", wrong)
                    .next("give the last result of this router as prior"));
            }
        }
        Ok(Routing { request, earlier, limit, trace_id })
    }

    /// The first route that chooses.
    fn by_route(&self, request: &ExtractRequest) -> Result<Option<&str>> {
        for route in &self.parts.routes {
            let Some(name) = route.choose(request)? else { continue };
            let Some(extractor) = self.extractor(&name) else {
                let tried = format!("follow the route `{}`", route.name());
                let names: Vec<&str> =
                    self.parts.extractors.iter().map(|it| it.schema().name()).collect();
                return Err(Error::new(
                    ErrorKind::Component,
                    tried,
                    "it names a schema that the router does not have",
                )
                .next(format!("have it name one of: {}", names.join(", "))));
            };
            return Ok(Some(extractor.schema().name()));
        }
        Ok(None)
    }

    fn extractor(&self, name: &str) -> Option<&Extractor> {
        self.parts.extractors.iter().find(|extractor| extractor.schema().name() == name)
    }

    async fn extract_by(
        &self,
        name: &str,
        routing: &Routing<'_>,
        spent: Usage,
    ) -> Result<Extraction> {
        let Some(extractor) = self.extractor(name) else { return Ok(routing.no_match()) };
        let request = routing.request_for(name);
        let given = Given { spent, ..Given::default() };
        extractor.work(&request, routing.limit, routing.trace_id.clone(), given).await
    }
}

impl Routing<'_> {
    /// The request as the extractor of a schema gets it: with what is known under that schema alone.
    fn request_for(&self, name: &str) -> ExtractRequest {
        let mut request = self.request.clone();
        request.prior = self.earlier.get(name).cloned().map(Prior::Data);
        request
    }

    fn no_match(&self) -> Extraction {
        Extraction::new(ExtractionStatus::NoMatch, self.trace_id.clone())
    }
}

//! The exporter: where to, and from when to when.

use std::fmt;
use std::time::Duration;

use kuhaku_core::Failure;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, Protocol, SpanExporter, WithExportConfig as _,
    WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use super::metrics::OpenTelemetryMetrics;
use super::transport::Transport;
use crate::error::{ErrorKind, Result};

/// The name of the tracer and of the meter.
const SCOPE: &str = "kuhaku";

/// How spans and metrics get to the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Http,
    #[cfg(feature = "otlp-grpc")]
    Grpc,
}

/// Prepares an [`Otlp`].
#[derive(Clone)]
#[must_use]
pub struct OtlpBuilder {
    over: Over,
    endpoint: String,
    service: Option<String>,
    limit: Duration,
}

impl fmt::Debug for OtlpBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address may hold credentials.
        f.debug_struct("OtlpBuilder")
            .field("over", &self.over)
            .field("service", &self.service)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl OtlpBuilder {
    fn new(over: Over, endpoint: impl Into<String>) -> Self {
        Self { over, endpoint: endpoint.into(), service: None, limit: Duration::from_secs(10) }
    }

    /// How the application calls itself (`service.name`).
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = Some(name.into());
        self
    }

    /// How long one export may take; 10 s unless set. What is not exported by then is lost.
    pub fn export_timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts the exporters, each on a thread of its own. Their sending is done on the current
    /// runtime of tokio. Nothing is sent before there is something to send, and nothing is global.
    ///
    /// What this builder leaves open, the libraries of OpenTelemetry read from their own variables:
    /// `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`,
    /// `OTEL_BSP_SCHEDULE_DELAY`, `OTEL_METRIC_EXPORT_INTERVAL` and the like.
    ///
    /// # Errors
    /// `core.invalid_input` when the address is none, or outside of a runtime of tokio.
    pub fn start(self) -> Result<Otlp> {
        let runtime = Handle::try_current().map_err(|source| {
            invalid("there is no runtime of tokio here")
                .next("call this within the runtime that the application answers in")
                .caused_by(source)
        })?;
        let (spans, metrics) = match self.over {
            Over::Http => self.over_http(&runtime)?,
            #[cfg(feature = "otlp-grpc")]
            Over::Grpc => self.over_grpc()?,
        };
        let mut resource = Resource::builder();
        if let Some(name) = self.service {
            resource = resource.with_service_name(name);
        }
        let resource = resource.build();
        let tracers = SdkTracerProvider::builder();
        let meters = SdkMeterProvider::builder();
        Ok(Otlp {
            tracers: tracers.with_resource(resource.clone()).with_batch_exporter(spans).build(),
            meters: meters.with_resource(resource).with_periodic_exporter(metrics).build(),
        })
    }

    fn over_http(&self, runtime: &Handle) -> Result<(SpanExporter, MetricExporter)> {
        let base = self.endpoint.trim_end_matches('/');
        let transport = || Transport::new(runtime.clone(), self.limit);
        let spans = SpanExporter::builder()
            .with_http()
            .with_http_client(transport()?)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(self.limit)
            .with_endpoint(format!("{base}/v1/traces"));
        let metrics = MetricExporter::builder()
            .with_http()
            .with_http_client(transport()?)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(self.limit)
            .with_endpoint(format!("{base}/v1/metrics"));
        Ok((spans.build().map_err(refused)?, metrics.build().map_err(refused)?))
    }

    #[cfg(feature = "otlp-grpc")]
    fn over_grpc(&self) -> Result<(SpanExporter, MetricExporter)> {
        use opentelemetry_otlp::WithTonicConfig as _;
        use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;

        let tls = || ClientTlsConfig::new().with_enabled_roots();
        let mut spans = SpanExporter::builder()
            .with_tonic()
            .with_timeout(self.limit)
            .with_endpoint(self.endpoint.as_str());
        let mut metrics = MetricExporter::builder()
            .with_tonic()
            .with_timeout(self.limit)
            .with_endpoint(self.endpoint.as_str());
        if self.endpoint.starts_with("https://") {
            spans = spans.with_tls_config(tls());
            metrics = metrics.with_tls_config(tls());
        }
        Ok((spans.build().map_err(refused)?, metrics.build().map_err(refused)?))
    }
}

/// Sends spans and metrics to a collector over OTLP.
///
/// Requests never wait for it: what does not fit its queue, or cannot be delivered, is dropped.
/// Dropping it ends it like [`Otlp::shutdown`], but waits on the current thread.
#[derive(Debug)]
pub struct Otlp {
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
}

impl Otlp {
    /// Over HTTP, to an address without a path for signals: `http://localhost:4318`.
    pub fn http(endpoint: impl Into<String>) -> OtlpBuilder {
        OtlpBuilder::new(Over::Http, endpoint)
    }

    /// Over gRPC, to an address such as `http://localhost:4317`.
    #[cfg(feature = "otlp-grpc")]
    pub fn grpc(endpoint: impl Into<String>) -> OtlpBuilder {
        OtlpBuilder::new(Over::Grpc, endpoint)
    }

    /// A sink for counters and measurements; goes into the application's `Runtime`.
    pub fn metrics(&self) -> OpenTelemetryMetrics {
        OpenTelemetryMetrics::new(self.meters.meter(SCOPE))
    }

    /// A layer for the application's subscriber. It takes the spans of kuhaku's crates, of no other
    /// code, and no events: only what is known to hold no content is sent (R7).
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + 'static
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.tracers.tracer(SCOPE))
            // These are about the program, not the request, and tell paths of the build machine.
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_level(false);
        layer.with_filter(filter_fn(is_ours))
    }

    /// Sends what is left and ends the exporters. Returns when that is done, and after `limit` in
    /// any case; whether all was delivered.
    pub async fn shutdown(self, limit: Duration) -> bool {
        // Both wait on their thread, where a runtime with one thread could not do the sending.
        let tracers = on_a_thread(move || self.tracers.shutdown_with_timeout(limit).is_ok());
        let meters = on_a_thread(move || self.meters.shutdown_with_timeout(limit).is_ok());
        let both = async { tracers.await.is_ok_and(|it| it) & meters.await.is_ok_and(|it| it) };
        tokio::time::timeout(limit, both).await.unwrap_or(false)
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with("kuhaku")
}

/// Does some work on a thread that nobody has to wait for.
fn on_a_thread(work: impl FnOnce() -> bool + Send + 'static) -> oneshot::Receiver<bool> {
    let (done, awaited) = oneshot::channel();
    // When there is no thread to be had, the work is dropped, and with it the sender.
    let _ = std::thread::Builder::new().name("kuhaku-otlp".into()).spawn(move || {
        let _ = done.send(work());
    });
    awaited
}

fn invalid(wrong: &'static str) -> Failure<ErrorKind> {
    let kind = ErrorKind::Core(kuhaku_core::ErrorKind::InvalidInput);
    Failure::new(kind, "send telemetry", wrong)
}

fn refused(error: ExporterBuildError) -> Failure<ErrorKind> {
    // The text of the error quotes the address.
    drop(error);
    invalid("the address of the collector, or a variable OTEL_EXPORTER_OTLP_…, is not valid")
        .next("give an address such as http://localhost:4318")
}

//! Spans and metrics for OpenTelemetry, for applications that want them sent to a collector.
//!
//! Nothing here acts by itself (R11): the application makes an [`Otlp`], puts its layer into the
//! subscriber that it installs, and its metrics into the `Runtime` that it passes on. An application
//! with a pipeline of its own takes [`OpenTelemetryMetrics`] alone, and whatever layer it has for
//! the spans of `tracing`.
//!
//! ```no_run
//! use std::time::Duration;
//! use kuhaku::telemetry::Otlp;
//! use kuhaku::Runtime;
//! use tracing_subscriber::layer::SubscriberExt as _;
//! use tracing_subscriber::util::SubscriberInitExt as _;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> kuhaku::Result<()> {
//! let otlp = Otlp::http("http://localhost:4318").service("answers").start()?;
//! tracing_subscriber::registry().with(otlp.layer()).init();
//! let runtime = Runtime::builder().metrics(otlp.metrics()).build();
//! // … `Rag::builder().runtime(runtime)`, and so on …
//! # drop(runtime);
//! otlp.shutdown(Duration::from_secs(2)).await;
//! # Ok(())
//! # }
//! ```

mod metrics;
mod otlp;
mod transport;

pub use metrics::OpenTelemetryMetrics;
pub use otlp::{Otlp, OtlpBuilder};

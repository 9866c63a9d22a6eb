//! The subscriber of the command, the only one in kuhaku (R11): its logs, and with the feature `otlp`
//! an exporter of spans and metrics, where the environment names a collector.

use kuhaku::Runtime;
#[cfg(feature = "otlp")]
use kuhaku::telemetry::{Otlp, OtlpBuilder};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::args::Common;
use crate::console::Console;
use crate::logs::Logs;

/// Where the collector is, by the name that OpenTelemetry gave it.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// How long the end of the command waits for the last spans.
#[cfg(feature = "otlp")]
const LAST_SPANS: std::time::Duration = std::time::Duration::from_secs(2);

/// What has to be ended when the command ends.
#[derive(Debug)]
pub(crate) struct Telemetry {
    #[cfg(feature = "otlp")]
    otlp: Option<Otlp>,
}

impl Telemetry {
    /// Starts logging and, where it is wanted, sending. An address that is none is a warning: no
    /// request fails for telemetry.
    pub(crate) fn start(common: &Common, console: &Console) -> Self {
        let logs = Logs::layer(common.log_format, common.log_level, anstream::stderr());
        let subscriber = tracing_subscriber::registry().with(logs);
        #[cfg(feature = "otlp")]
        {
            let otlp = exporter().and_then(|builder| {
                let started = builder.start();
                started.inspect_err(|error| console.note(&format!("warning: {error}"))).ok()
            });
            let subscriber = subscriber.with(otlp.as_ref().map(Otlp::layer));
            install(subscriber);
            Self { otlp }
        }
        #[cfg(not(feature = "otlp"))]
        {
            let _ = console;
            install(subscriber);
            if std::env::var_os(ENDPOINT).is_some() {
                tracing::info!(reason = "otlp", "spans are not sent: built without the feature");
            }
            Self {}
        }
    }

    /// The handle for all parts of the command.
    pub(crate) fn runtime(&self, console: &Console) -> Runtime {
        let runtime = Runtime::builder().announcer(console.clone());
        #[cfg(feature = "otlp")]
        if let Some(otlp) = &self.otlp {
            return runtime.metrics(otlp.metrics()).build();
        }
        runtime.build()
    }

    /// Sends what is left, for a short while.
    pub(crate) async fn end(self) {
        #[cfg(feature = "otlp")]
        if let Some(otlp) = self.otlp
            && !otlp.shutdown(LAST_SPANS).await
        {
            tracing::warn!("spans or metrics could not be delivered");
        }
    }
}

fn install(subscriber: impl tracing::Subscriber + Send + Sync) {
    // Nobody else installs one, so this cannot fail.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// The exporter that the environment asks for.
#[cfg(feature = "otlp")]
fn exporter() -> Option<OtlpBuilder> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let endpoint = variable(ENDPOINT)?;
    #[cfg(feature = "otlp-grpc")]
    let builder = match variable("OTEL_EXPORTER_OTLP_PROTOCOL").as_deref() {
        Some("grpc") => Otlp::grpc(endpoint),
        _ => Otlp::http(endpoint),
    };
    #[cfg(not(feature = "otlp-grpc"))]
    let builder = Otlp::http(endpoint);
    let builder = builder.export_timeout(LAST_SPANS);
    Some(if variable("OTEL_SERVICE_NAME").is_some() { builder } else { builder.service("kuhaku") })
}

//! The metrics sink of the core, over a meter of OpenTelemetry.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use kuhaku_core::MetricsSink;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};

/// Of calls of models, as the conventions for generative AI recommend. They end where a call of a
/// model may.
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// The recommendation for numbers of tokens.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// Gives counters and measurements to a meter.
///
/// Names stay as they are. The one label of a counter is the attribute `label`; histograms have the
/// attributes that they come with. Instruments are made when they are first used.
#[derive(Debug)]
pub struct OpenTelemetryMetrics {
    meter: Meter,
    counters: Mutex<HashMap<&'static str, Counter<u64>>>,
    histograms: Mutex<HashMap<&'static str, Histogram<f64>>>,
}

impl OpenTelemetryMetrics {
    /// A sink that makes its instruments with this meter.
    pub fn new(meter: Meter) -> Self {
        Self { meter, counters: Mutex::default(), histograms: Mutex::default() }
    }

    fn counter(&self, name: &'static str) -> Counter<u64> {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        counters.entry(name).or_insert_with(|| self.meter.u64_counter(name).build()).clone()
    }

    fn histogram(&self, name: &'static str) -> Histogram<f64> {
        let mut histograms = self.histograms.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let tokens = name.ends_with(".token.usage");
            let (unit, bounds) = if tokens { ("{token}", TOKENS) } else { ("s", SECONDS) };
            let histogram = self.meter.f64_histogram(name).with_unit(unit);
            histogram.with_boundaries(bounds.to_vec()).build()
        };
        histograms.entry(name).or_insert_with(make).clone()
    }
}

impl MetricsSink for OpenTelemetryMetrics {
    fn count(&self, name: &'static str, label: &str, by: u64) {
        self.counter(name).add(by, &[KeyValue::new("label", label.to_owned())]);
    }

    fn record(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        let label = |(key, value): &(&'static str, &str)| KeyValue::new(*key, (*value).to_owned());
        let labels: Vec<KeyValue> = labels.iter().map(label).collect();
        self.histogram(name).record(value, &labels);
    }
}

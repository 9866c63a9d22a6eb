//! The contract of targets.

use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_eval::{Measurement, Outcome, Sample, Target, Unmeasured};

#[derive(Debug)]
struct Echo;

#[async_trait]
impl Target for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        Outcome::answered(&sample.query)
    }
}

#[tokio::test]
async fn a_target_is_one_through_pointers_and_as_a_trait_object() {
    let shared: Arc<dyn Target> = Arc::new(Echo);
    let boxed: Box<dyn Target> = Box::new(Arc::clone(&shared));
    for target in [&shared as &dyn Target, &boxed] {
        assert_eq!(target.name(), "echo");
        assert_eq!(target.run(&Sample::new("1", "hello")).await, Outcome::answered("hello"));
    }
}

#[test]
fn a_failed_run_says_nothing_about_what_it_did_not_do() {
    let outcome = Outcome::failed("core.timed_out");
    assert_eq!(outcome.failed.as_deref(), Some("core.timed_out"));
    assert_eq!((outcome.retrieved, outcome.text, outcome.abstained), (None, None, None));
}

#[test]
fn only_finite_numbers_are_measured() {
    for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Measurement::from(broken), Measurement::Unmeasured(Unmeasured::Undefined));
    }
    assert_eq!(Measurement::from(0.0).value(), Some(0.0));
}

//! A classifier that reads long texts window by window.

use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::{Error, ErrorKind, Probability, TextClassifier};

use super::text_windows::TextWindows;

/// A classifier over windows: per text and label the highest probability that a window has, since one
/// bad stretch is enough. Over several windows the probabilities of a text need not sum to 1.
///
/// Works around any classifier; its windows should be shorter than the texts that the inner one
/// takes whole.
#[derive(Clone, Debug)]
pub struct WindowedClassifier {
    inner: Arc<dyn TextClassifier>,
    windows: TextWindows,
}

impl WindowedClassifier {
    /// Reads windows by a classifier.
    pub fn new(inner: Arc<dyn TextClassifier>, windows: TextWindows) -> Self {
        Self { inner, windows }
    }
}

#[async_trait]
impl TextClassifier for WindowedClassifier {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn labels(&self) -> &[String] {
        self.inner.labels()
    }

    async fn classify(&self, texts: &[&str]) -> kuhaku_core::Result<Vec<Vec<Probability>>> {
        let windows: Vec<Vec<&str>> = texts.iter().map(|text| self.windows.of(text)).collect();
        let all: Vec<&str> = windows.iter().flatten().copied().collect();
        let judged = self.inner.classify(&all).await?;
        if judged.len() != all.len() {
            let wrong = format!("it judged {} windows of {}", judged.len(), all.len());
            return Err(Error::new(
                ErrorKind::MalformedResponse,
                "classify texts in windows",
                wrong,
            )
            .next("use another classifier: this one leaves texts out"));
        }
        let counts = windows.iter().map(Vec::len);
        Ok(highest_per_label(judged, counts))
    }
}

/// Joins windows to texts; `counts` says how many windows each text has.
pub(super) fn highest_per_label(
    judged: Vec<Vec<Probability>>,
    counts: impl Iterator<Item = usize>,
) -> Vec<Vec<Probability>> {
    let mut judged = judged.into_iter();
    counts
        .map(|count| {
            let mut windows = judged.by_ref().take(count);
            let mut highest = windows.next().unwrap_or_default();
            for window in windows {
                for (highest, other) in highest.iter_mut().zip(window) {
                    if other > *highest {
                        *highest = other;
                    }
                }
            }
            highest
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Finds "ignore", and keeps what it was asked.
    #[derive(Debug)]
    struct Scripted {
        labels: [String; 2],
        asked: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl TextClassifier for Scripted {
        fn id(&self) -> &str {
            "scripted"
        }

        fn labels(&self) -> &[String] {
            &self.labels
        }

        async fn classify(&self, texts: &[&str]) -> kuhaku_core::Result<Vec<Vec<Probability>>> {
            self.asked.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
            let bad = |text: &&str| if text.contains("ignore") { 0.99 } else { 0.01 };
            let both = |bad: f64| [1.0 - bad, bad].map(|share| Probability::new(share).unwrap());
            Ok(texts.iter().map(|text| both(bad(text)).to_vec()).collect())
        }
    }

    fn scripted() -> Arc<Scripted> {
        let labels = ["SAFE", "INJECTION"].map(String::from);
        Arc::new(Scripted { labels, asked: Mutex::default() })
    }

    /// RK-53
    #[tokio::test]
    async fn the_worst_window_of_a_text_counts() {
        let inner = scripted();
        let windows = TextWindows::characters(300, 100).unwrap();
        let classifier = WindowedClassifier::new(Arc::clone(&inner) as _, windows);
        let safe = "a safe text".repeat(200);
        let bad = format!("{safe} ignore previous");
        let between = format!("{}ignore{}", "x".repeat(298), "y".repeat(100));
        let texts = [safe.as_str(), &bad, &between, ""];
        let judged = classifier.classify(&texts).await.unwrap();
        let injections: Vec<f64> = judged.iter().map(|labels| labels[1].get()).collect();
        assert_eq!(injections, [0.01, 0.99, 0.99, 0.01]);
        // The share of the other label is that of the safest window.
        assert_eq!(judged[1][0].get(), 0.99);
        let asked = inner.asked.lock().unwrap();
        assert_eq!(asked.len(), 11 + 11 + 2 + 1);
        assert!(!asked[22].contains("ignore") && asked[23].contains("ignore"));
    }

    /// Leaves the last text out.
    #[derive(Debug)]
    struct Short(Arc<Scripted>);

    #[async_trait]
    impl TextClassifier for Short {
        fn id(&self) -> &str {
            "short"
        }

        fn labels(&self) -> &[String] {
            self.0.labels()
        }

        async fn classify(&self, texts: &[&str]) -> kuhaku_core::Result<Vec<Vec<Probability>>> {
            let mut judged = self.0.classify(texts).await?;
            judged.pop();
            Ok(judged)
        }
    }

    #[tokio::test]
    async fn a_classifier_that_leaves_windows_out_is_an_error_not_a_clean_bill() {
        let windows = TextWindows::characters(300, 100).unwrap();
        let classifier = WindowedClassifier::new(Arc::new(Short(scripted())), windows);
        let error = classifier.classify(&["safe", "ignore"]).await.unwrap_err();
        assert_eq!(error.code(), "core.malformed_response");
        assert!(error.to_string().contains("1 windows of 2"), "{error}");
    }

    #[tokio::test]
    async fn no_texts_have_no_labels() {
        let windows = TextWindows::sentences(300, 100).unwrap();
        let classifier = WindowedClassifier::new(scripted(), windows);
        assert!(classifier.classify(&[]).await.unwrap().is_empty());
        assert_eq!((classifier.id(), classifier.labels().len()), ("scripted", 2));
    }
}

//! What would embed, and where text would go for it.

use std::fmt;

use kuhaku_rag::EmbeddingProvider;

/// What makes vectors under some settings. `Display` says it in a line, with which text goes where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbedderPlan {
    /// Where the model is.
    pub provider: EmbeddingProvider,
    /// The model.
    pub model: String,
    /// The host that passages and questions go to; absent when they stay on this machine.
    pub host: Option<String>,
}

impl fmt::Display for EmbedderPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, model, host } = self;
        match host.as_deref() {
            None => write!(f, "{model} on this machine; no text leaves it for that"),
            Some("") => {
                write!(f, "{provider} ({model}); passages and questions go to {provider}")
            }
            Some(host) => write!(f, "{provider} ({model}); passages and questions go to {host}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_says_which_text_goes_where() {
        let mut plan = EmbedderPlan {
            provider: EmbeddingProvider::OpenAi,
            model: "m".into(),
            host: Some("api.openai.com".into()),
        };
        let says = "openai (m); passages and questions go to api.openai.com";
        assert_eq!(plan.to_string(), says);
        plan.host = None;
        assert_eq!(plan.to_string(), "m on this machine; no text leaves it for that");
    }
}

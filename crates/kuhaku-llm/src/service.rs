//! The services by name.

use std::fmt;
use std::str::FromStr;

use kuhaku_core::{Error, ErrorKind, Result};

/// A service, or a kind of server, that kuhaku can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Service {
    /// Anthropic.
    Anthropic,
    /// Groq.
    Groq,
    /// Hugging Face text-generation-inference.
    HuggingFace,
    /// A local or remote Ollama.
    Ollama,
    /// OpenAI.
    OpenAi,
    /// Any server that speaks OpenAI's chat or completions endpoint.
    OpenAiCompat,
    /// OpenRouter.
    OpenRouter,
    /// Google Vertex AI.
    Vertex,
}

impl Service {
    /// All of them, by name.
    pub const ALL: [Self; 8] = [
        Self::Anthropic,
        Self::Groq,
        Self::HuggingFace,
        Self::Ollama,
        Self::OpenAi,
        Self::OpenAiCompat,
        Self::OpenRouter,
        Self::Vertex,
    ];

    /// The name in settings and in the ids of providers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Groq => "groq",
            Self::HuggingFace => "huggingface",
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
            Self::OpenAiCompat => "openai_compat",
            Self::OpenRouter => "openrouter",
            Self::Vertex => "vertex",
        }
    }

    /// The variable of one of its settings.
    pub(crate) fn variable(self, setting: &str) -> String {
        format!("KUHAKU_{}_{}", self.name(), setting).to_uppercase()
    }

    /// What a person does to make it usable.
    pub(crate) fn how_to_open(self) -> String {
        match self {
            Self::Anthropic => "set ANTHROPIC_API_KEY to your key".into(),
            Self::Groq => "set GROQ_API_KEY to your key".into(),
            Self::OpenAi => "set OPENAI_API_KEY to your key".into(),
            Self::OpenRouter => {
                "set OPENROUTER_API_KEY to your key (it has models that are free)".into()
            }
            Self::Ollama => "start it, and pull a model with `ollama pull`".into(),
            Self::Vertex => "set GOOGLE_CLOUD_PROJECT, and log in with `gcloud auth \
                             application-default login` or set GOOGLE_APPLICATION_CREDENTIALS"
                .into(),
            Self::HuggingFace => format!("set {} to where it is", self.variable("base_url")),
            Self::OpenAiCompat => format!(
                "set {} to where it is, and {}",
                self.variable("base_url"),
                self.variable("model")
            ),
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Service {
    type Err = Error;

    /// Case and surrounding blanks do not count.
    fn from_str(name: &str) -> Result<Self> {
        let wanted = name.trim().to_lowercase();
        Self::ALL.into_iter().find(|service| service.name() == wanted).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            let next = match nearest(&wanted) {
                Some(service) => {
                    format!("did you mean `{service}`? The names are: auto, none, {names}")
                }
                None => format!("use one of: auto, none, {names}"),
            };
            // The name is not quoted: it may be a key under the wrong setting.
            let wrong = "there is no provider of this name";
            Error::new(ErrorKind::InvalidSettings, "choose a model provider", wrong).next(next)
        })
    }
}

/// The error of a build without Vertex AI.
#[cfg(not(feature = "vertex"))]
pub(crate) fn vertex_is_absent(access: &crate::access::Access) -> Error {
    access
        .unusable("Vertex AI is not part of this build")
        .next("turn on the feature `vertex`, or choose another provider")
}

fn nearest(wanted: &str) -> Option<Service> {
    /// More edits than this is another word.
    const MOST_EDITS: usize = 3;
    let close = Service::ALL.into_iter().map(|service| {
        let edits = strsim::damerau_levenshtein(wanted, service.name());
        (edits, service)
    });
    close.filter(|(edits, _)| *edits <= MOST_EDITS).min().map(|(_, service)| service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_found_by_its_name_whatever_its_case() {
        for service in Service::ALL {
            let written = format!(" {} ", service.name().to_uppercase());
            assert_eq!(written.parse::<Service>().unwrap(), service);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_and_all_sorted() {
        let error = "antropic".parse::<Service>().unwrap_err().to_string();
        assert!(error.contains("did you mean `anthropic`?"), "{error}");
        let sorted = "auto, none, anthropic, groq, huggingface, ollama, openai, openai_compat, \
                      openrouter, vertex";
        assert!(error.contains(sorted), "{error}");
        let error = "sk-9f8e7d6c5b4a".parse::<Service>().unwrap_err().to_string();
        assert!(!error.contains("9f8e7d6c"), "{error}");
    }
}

//! The settings of models, services and calls.

use std::time::Duration;

use kuhaku_core::{BreakerPolicy, Resilience, Runtime};
use secrecy::SecretString;

kuhaku_core::settings! {
    /// Settings of the services that models are asked of: top level, variables `KUHAKU_…`.
    pub struct LlmSettings in "" {
        /// Which service answers: `auto` for the safest that is ready, or the name of one.
        llm_provider: String = "auto".into();
        /// How long one attempt may take, in seconds; for a stream, until its first text.
        llm_timeout_seconds: u64 = 120, "from 1 to 86400" => |s| (1..=86_400).contains(s);
        /// How long a stream may be silent, in seconds.
        llm_idle_timeout_seconds: u64 = 60, "from 1 to 86400" => |s| (1..=86_400).contains(s);
        /// The longest input and reply together, in tokens: what is longer by estimate is refused
        /// before it is sent. Without it the service decides, but Ollama, which cuts in silence.
        llm_context_tokens: Option<u32> = None, "at least 1" => |n| n.is_none_or(|n| n > 0);
        /// Whether calls that failed for a moment are tried again.
        retry_enabled: bool = true;
        /// How often a call is tried, the first time included.
        retry_llm_max_attempts: u32 = 3, "from 1 to 100" => |n| (1..=100).contains(n);
        /// The longest first wait between attempts, in seconds. It doubles from wait to wait.
        retry_llm_backoff_base_seconds: f64 = 1.0, "from 0 to 3600"
            => |s| (0.0..=3600.0).contains(s);
        /// The longest wait between attempts that a service did not ask for, in seconds.
        retry_llm_backoff_max_seconds: f64 = 10.0, "from 0 to 3600"
            => |s| (0.0..=3600.0).contains(s);
        /// Whether a service that fails again and again is left alone for a while.
        circuit_breaker_enabled: bool = true;
        /// How many failures in a row open the circuit of a service.
        circuit_breaker_failure_threshold: u32 = 5, "from 1 to 1000" => |n| (1..=1000).contains(n);
        /// How long an open circuit stays open, in seconds.
        circuit_breaker_reset_timeout_seconds: f64 = 60.0, "from 0 to 86400"
            => |s| (0.0..=86_400.0).contains(s);
        /// How many probes must succeed before the circuit closes.
        circuit_breaker_success_threshold: u32 = 1, "from 1 to 1000" => |n| (1..=1000).contains(n);
        /// Where Ollama is.
        ollama_base_url: String = "http://localhost:11434".into(), alias "OLLAMA_HOST";
        /// The model of Ollama. Without it, the newest that is pulled.
        ollama_model: Option<String> = None;
        /// The key of Anthropic.
        anthropic_api_key: Option<SecretString> = None, alias "ANTHROPIC_API_KEY";
        /// The model of Anthropic.
        anthropic_model: String = "claude-sonnet-5".into();
        /// Where Anthropic's service is.
        anthropic_base_url: String = "https://api.anthropic.com".into();
        /// The key of OpenAI.
        openai_api_key: Option<SecretString> = None, alias "OPENAI_API_KEY";
        /// The model of OpenAI.
        openai_model: String = "gpt-4o-mini".into();
        /// Where OpenAI's service is.
        openai_base_url: String = "https://api.openai.com/v1".into();
        /// The key of Groq.
        groq_api_key: Option<SecretString> = None, alias "GROQ_API_KEY";
        /// The model of Groq.
        groq_model: String = "openai/gpt-oss-20b".into();
        /// Where Groq's service is.
        groq_base_url: String = "https://api.groq.com/openai/v1".into();
        /// The key of OpenRouter.
        openrouter_api_key: Option<SecretString> = None, alias "OPENROUTER_API_KEY";
        /// The model of OpenRouter.
        openrouter_model: String = "google/gemma-4-31b-it:free".into();
        /// Where OpenRouter's service is.
        openrouter_base_url: String = "https://openrouter.ai/api/v1".into();
        /// The project of Google Cloud whose Vertex AI is asked.
        vertex_project: Option<String> = None, alias "GOOGLE_CLOUD_PROJECT";
        /// The location of Vertex AI.
        vertex_location: String = "us-central1".into(), alias "GOOGLE_CLOUD_LOCATION";
        /// The model of Vertex AI.
        vertex_model: String = "gemini-2.5-flash".into();
        /// Where text-generation-inference is. With `/v1` at its end, messages go to its chat
        /// endpoint; without, one text goes to `/generate`.
        huggingface_base_url: Option<String> = None;
        /// The token of Hugging Face, for servers that want one.
        huggingface_api_key: Option<SecretString> = None, alias "HF_TOKEN";
        /// The model's name, which the server itself does not need.
        huggingface_model: String = "tgi".into();
        /// Where the server is that speaks OpenAI's language: vLLM, LM Studio, llama.cpp. A URL that
        /// ends in `/completions` but not in `/chat/completions` means the older endpoint.
        openai_compat_base_url: Option<String> = None;
        /// The key of that server, if it wants one.
        openai_compat_api_key: Option<SecretString> = None;
        /// The model of that server.
        openai_compat_model: Option<String> = None;
    }
    check |settings, problems| {
        let waits =
            [settings.retry_llm_backoff_base_seconds, settings.retry_llm_backoff_max_seconds];
        if let [base, most] = waits && base > most {
            let wrong = "must not be above retry_llm_backoff_max_seconds";
            problems.add("retry_llm_backoff_base_seconds", wrong);
        }
    }
}

impl LlmSettings {
    /// How calls are made under these settings.
    pub fn resilience(&self, runtime: &Runtime) -> Resilience {
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let attempts = if self.retry_enabled { self.retry_llm_max_attempts } else { 1 };
        let resilience = Resilience::new(runtime.clone(), "llm")
            .attempts(attempts)
            .backoff(
                seconds(self.retry_llm_backoff_base_seconds),
                seconds(self.retry_llm_backoff_max_seconds),
            )
            .attempt_timeout(Duration::from_secs(self.llm_timeout_seconds));
        if !self.circuit_breaker_enabled {
            return resilience.without_breaker();
        }
        resilience.breaker(BreakerPolicy::new(
            self.circuit_breaker_failure_threshold,
            seconds(self.circuit_breaker_reset_timeout_seconds),
            self.circuit_breaker_success_threshold,
        ))
    }
}

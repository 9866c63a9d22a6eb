//! The settings of the store.

use std::path::PathBuf;

use secrecy::SecretString;

kuhaku_core::settings! {
    /// Where models come from and where they lie. Clients of the hub share most of these names.
    pub struct StoreSettings in "models" {
        /// Whether nothing is fetched, whoever asks for it.
        offline: bool = false, alias "HF_HUB_OFFLINE";
        /// The hub that models come from, or a mirror of it.
        hub: String = "https://huggingface.co".into(),
            "an address with http:// or https://, without name, password or query"
            => |url| is_address(url), alias "HF_ENDPOINT";
        /// Where the releases of ONNX Runtime are, or a mirror of them.
        releases: String = "https://github.com/microsoft/onnxruntime/releases/download".into(),
            "an address with http:// or https://, without name, password or query"
            => |url| is_address(url);
        /// The cache that clients of the hub share.
        cache: Option<PathBuf> = None, alias "HF_HUB_CACHE" "HUGGINGFACE_HUB_CACHE";
        /// The folder of the hub's clients; the cache is `hub` in it unless it is set by itself.
        home: Option<PathBuf> = None, alias "HF_HOME";
        /// The folder of all caches, `.cache` in the home folder without it. The hub's clients have
        /// `huggingface` in it, and records and the runtime library are in `kuhaku`.
        caches: Option<PathBuf> = None, alias "XDG_CACHE_HOME";
        /// The token for models that their owners give to some alone. Only the hub itself sees it,
        /// never a mirror.
        token: Option<SecretString> = None, alias "HF_TOKEN" "HUGGING_FACE_HUB_TOKEN";
        /// How long a server may send nothing, in seconds.
        idle_timeout_seconds: u64 = 60, "from 1 to 86400" => |s| (1..=86_400).contains(s);
    }
}

fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    // A name and a password in an address would be shown where the address is.
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['@', '?', '#', ' ']))
}

#[cfg(test)]
mod tests {
    use kuhaku_core::{Section as _, Sources};

    use super::*;

    #[test]
    fn the_names_of_the_hubs_clients_are_heard() {
        let sources = Sources::new().env([
            ("HF_HUB_OFFLINE", "1"),
            ("HF_ENDPOINT", "http://127.0.0.1:8080"),
            ("HF_HUB_CACHE", "/hub"),
            ("HF_HOME", "/hf"),
            ("XDG_CACHE_HOME", "/caches"),
            ("HF_TOKEN", "hf_s3cret"),
        ]);
        let settings = StoreSettings::load(&sources).unwrap();
        assert!(settings.offline && settings.token.is_some());
        assert_eq!(settings.hub, "http://127.0.0.1:8080");
        assert_eq!(settings.cache, Some("/hub".into()));
        assert_eq!((settings.home, settings.caches), (Some("/hf".into()), Some("/caches".into())));
    }

    #[test]
    fn addresses_that_are_none_or_hold_secrets_are_refused() {
        for bad in ["", "huggingface.co", "ftp://x", "https://", "https://me:pw@x", "https://x?k=1"]
        {
            let sources = Sources::new().set("models.hub", bad);
            assert!(StoreSettings::load(&sources).is_err(), "{bad}");
        }
    }
}

//! Where settings come from: a TOML file, a dotenv file, the environment, the program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use figment::providers::{Format, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};

use crate::error::{Error, ErrorKind, Result};
use crate::settings::field::Field;
use crate::settings::problem::Problems;

const PREFIX: &str = "KUHAKU_";

/// A section, perhaps one within it, and a field; whatever is deeper is part of the field's name, which
/// then is unknown.
const DEPTH: usize = 3;

/// Names under the prefix that are not settings: `TEST` and `BENCH` belong to the test suites.
const RESERVED: [&str; 2] = ["KUHAKU_TEST_", "KUHAKU_BENCH_"];

/// A `KUHAKU_` name, or a name in `kuhaku.toml`, that no setting has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName {
    /// The name as it was written.
    pub name: String,
    /// The most similar name that exists, if one is similar.
    pub nearest: Option<String>,
}

/// The layers that settings are read from, lowest first: `kuhaku.toml`, a dotenv file, the
/// environment, values set by the program. Nothing is read that was not added here (R11).
#[derive(Clone, Debug, Default)]
pub struct Sources {
    file: Option<Layer>,
    dotenv: BTreeMap<String, String>,
    env: BTreeMap<String, String>,
    explicit: Dict,
}

/// One layer of nested values, under a name for messages.
#[derive(Clone, Debug)]
struct Layer(String, Dict);

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.0.clone())
    }

    fn data(&self) -> figment::Result<Map<Profile, Dict>> {
        Ok(Profile::Default.collect(self.1.clone()))
    }
}

/// The settings among environment variables as nested values: `KUHAKU_RAG__TOP_K` is `rag.top_k`.
fn nest(variables: &BTreeMap<String, String>) -> Dict {
    let mut dict = Dict::new();
    for (name, value) in variables {
        if let Some(path) = name.strip_prefix(PREFIX) {
            let path = path.to_ascii_lowercase();
            insert(&mut dict, &path.splitn(DEPTH, "__").collect::<Vec<_>>(), value.as_str().into());
        }
    }
    dict
}

fn insert(dict: &mut Dict, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => {
            dict.insert((*name).into(), value);
        }
        [name, rest @ ..] => {
            let entry = dict.entry((*name).into()).or_insert_with(|| Dict::new().into());
            // A scalar and a section of one name: the section wins, the scalar is unknown anyway.
            if !matches!(entry, Value::Dict(..)) {
                *entry = Dict::new().into();
            }
            if let Value::Dict(_, inner) = entry {
                insert(inner, rest, value);
            }
        }
    }
}

/// Names are compared in upper case, and an empty value is the same as none (CFG-03).
fn usable<K, V>(variables: impl IntoIterator<Item = (K, V)>) -> BTreeMap<String, String>
where
    K: AsRef<str>,
    V: Into<String>,
{
    variables
        .into_iter()
        .map(|(name, value)| (name.as_ref().to_ascii_uppercase(), value.into()))
        .filter(|(_, value)| !value.trim().is_empty())
        .collect()
}

impl Sources {
    /// No layers: every setting has its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// The environment of this process. Values that are not UTF-8 are left out.
    pub fn from_process_env() -> Self {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self::new().env(std::env::vars_os().filter_map(text))
    }

    /// Adds environment variables; later ones win.
    #[must_use]
    pub fn env<K, V>(mut self, variables: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: AsRef<str>,
        V: Into<String>,
    {
        self.env.extend(usable(variables));
        self
    }

    /// Adds a dotenv file. The environment wins over it.
    ///
    /// # Errors
    /// [`ErrorKind::SettingsFile`] when it cannot be read or parsed.
    pub fn dotenv(mut self, path: &Path) -> Result<Self> {
        let tried = || format!("read the dotenv file `{}`", path.display());
        let next = "check the path, and that each line is NAME=value";
        let lines = dotenvy::from_path_iter(path).map_err(|_| {
            Error::new(ErrorKind::SettingsFile, tried(), "it cannot be opened").next(next)
        })?;
        for line in lines {
            // The underlying error quotes the line, which may hold a key: it is not passed on.
            let pair = line.map_err(|_| {
                Error::new(ErrorKind::SettingsFile, tried(), "a line is malformed").next(next)
            })?;
            self.dotenv.extend(usable([pair]));
        }
        Ok(self)
    }

    /// Adds a TOML file. Everything else wins over it.
    ///
    /// # Errors
    /// [`ErrorKind::SettingsFile`] when it cannot be read or parsed.
    pub fn toml(mut self, path: &Path) -> Result<Self> {
        let failed = |wrong: &'static str| {
            let tried = format!("read the settings file `{}`", path.display());
            Error::new(ErrorKind::SettingsFile, tried, wrong)
                .next("check the path, and that the file is TOML")
        };
        let text = std::fs::read_to_string(path).map_err(|source| {
            let wrong = match source.kind() {
                std::io::ErrorKind::NotFound => "there is no such file",
                std::io::ErrorKind::InvalidData => "it is not UTF-8 text",
                _ => "the operating system refused",
            };
            failed(wrong).caused_by(source)
        })?;
        // The parser's message quotes the line, which may hold a key: it is not passed on.
        let data = Figment::from(Toml::string(&text)).data();
        let data = data.map_err(|_| failed("it is not valid TOML"))?;
        let dict = data.into_values().next().unwrap_or_default();
        self.file = Some(Layer(format!("`{}`", path.display()), dict));
        Ok(self)
    }

    /// Sets one value, above all other layers. `path` is `section.field`, or `field` at the top.
    #[must_use]
    pub fn set(mut self, path: &str, value: impl Into<Value>) -> Self {
        insert(&mut self.explicit, &path.splitn(DEPTH, '.').collect::<Vec<_>>(), value.into());
        self
    }

    fn layered(&self) -> Figment {
        self.file
            .clone()
            .map_or_else(Figment::new, Figment::from)
            .merge(Layer("the dotenv file".into(), nest(&self.dotenv)))
            .merge(Layer("the environment".into(), nest(&self.env)))
            .merge(Layer("the program".into(), self.explicit.clone()))
    }

    /// The value at `path`, else the value of the first alias that is set in the environment or,
    /// after it, in the dotenv file.
    pub fn value(&self, path: &str, aliases: &[&str]) -> Option<Value> {
        let named = self.layered().find_value(path).ok();
        named.or_else(|| {
            let lookup = |layer: &BTreeMap<String, String>| {
                aliases.iter().find_map(|alias| layer.get(*alias).map(|text| text.as_str().into()))
            };
            lookup(&self.env).or_else(|| lookup(&self.dotenv))
        })
    }

    /// Adds to a message where the value stood.
    pub fn blame(&self, value: &Value, wrong: &str) -> String {
        let layered = self.layered();
        match layered.get_metadata(value.tag()) {
            Some(metadata) => format!("{wrong} (in {})", metadata.name),
            None => wrong.into(),
        }
    }

    /// Notes the names that were settings elsewhere and are refused here, each with its reason
    /// (D3). Paths are written as for [`Sources::value`].
    pub fn refuse(&self, dropped: &[(&str, &str)], problems: &mut Problems) {
        for (path, reason) in dropped {
            if self.value(path, &[]).is_some() {
                problems.add(path, format!("is not a setting: {reason}"));
            }
        }
    }

    /// The names that none of the sections has, each with the nearest one that exists.
    ///
    /// `sections` pairs a section's name with its fields; `also` lists further environment names
    /// that have a reader.
    pub fn unknown_names(
        &self,
        sections: &[(&str, Vec<Field>)],
        also: &[&str],
    ) -> Vec<UnknownName> {
        let mut paths: Vec<String> = Vec::new();
        for (section, fields) in sections {
            let dot = if section.is_empty() { "" } else { "." };
            paths.extend(fields.iter().map(|field| format!("{section}{dot}{}", field.name)));
        }
        let env_name =
            |path: &String| format!("{PREFIX}{}", path.to_ascii_uppercase().replace('.', "__"));
        let mut variables: Vec<String> = paths.iter().map(env_name).collect();
        variables.extend(also.iter().map(|name| (*name).to_string()));
        let mut unknown = Vec::new();
        for name in self.env.keys().chain(self.dotenv.keys()) {
            let reserved = RESERVED.iter().any(|prefix| name.starts_with(prefix));
            if name.starts_with(PREFIX) && !reserved && !variables.contains(name) {
                unknown
                    .push(UnknownName { name: name.clone(), nearest: nearest(name, &variables) });
            }
        }
        if let Some(Layer(_, dict)) = &self.file {
            for name in leaves(dict, "") {
                // A map-valued setting has leaves of its own below the setting's path.
                let known =
                    paths.iter().any(|path| name == *path || name.starts_with(&format!("{path}.")));
                if !known {
                    unknown.push(UnknownName { nearest: nearest(&name, &paths), name });
                }
            }
        }
        unknown.sort_by(|a, b| a.name.cmp(&b.name));
        unknown.dedup();
        unknown
    }
}

fn leaves(dict: &Dict, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (name, value) in dict {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Dict(_, inner) => names.extend(leaves(inner, &path)),
            _ => names.push(path),
        }
    }
    names
}

fn nearest(name: &str, known: &[String]) -> Option<String> {
    // A common beginning says nothing when all names have it.
    let bare = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_ascii_lowercase();
    let score = |other: &String| strsim::jaro_winkler(&bare(name), &bare(other));
    let best = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) >= 0.85).then(|| best.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Section;

    crate::settings! {
        /// Settings for these tests.
        struct SampleSettings in "sample" {
            /// A number.
            top_k: u32 = 4, "from 1 to 100" => |k| (1..=100).contains(k);
            /// A switch.
            on: bool = false;
            /// A key.
            key: Option<secrecy::SecretString> = None, alias "SAMPLE_KEY" "OTHER_KEY";
            /// A map.
            kinds: BTreeMap<String, String> = BTreeMap::new();
            /// A name.
            model: String = "a".into();
        }
    }

    fn key(settings: &SampleSettings) -> Option<&str> {
        use secrecy::ExposeSecret as _;
        settings.key.as_ref().map(|key| key.expose_secret())
    }

    fn load(variables: &[(&str, &str)]) -> Result<SampleSettings> {
        SampleSettings::load(&Sources::new().env(variables.iter().copied()))
    }

    /// CFG-03
    #[test]
    fn a_prefixed_name_wins_over_its_alias_unless_it_is_empty() {
        let both = load(&[("KUHAKU_SAMPLE__KEY", "a"), ("SAMPLE_KEY", "b")]).unwrap();
        assert_eq!(key(&both), Some("a"));
        assert_eq!(key(&load(&[("OTHER_KEY", "b")]).unwrap()), Some("b"));
        let hidden = load(&[("KUHAKU_SAMPLE__KEY", " "), ("SAMPLE_KEY", "b")]).unwrap();
        assert_eq!(key(&hidden), Some("b"));
        let sources = Sources::new().env([("KUHAKU_SAMPLE__TOP_K", "7")]).set("sample.top_k", 9);
        assert_eq!(SampleSettings::load(&sources).unwrap().top_k, 9);
    }

    /// CFG-04
    #[test]
    fn names_are_read_in_any_case_and_values_leniently() {
        let settings = load(&[
            ("kuhaku_sample__top_k", " 8 "),
            ("KUHAKU_SAMPLE__ON", "Yes"),
            ("KUHAKU_SAMPLE__MODEL", "123"),
            ("KUHAKU_SAMPLE__KINDS", r#"{"log_":"x"}"#),
        ])
        .unwrap();
        assert_eq!((settings.top_k, settings.on, settings.model.as_str()), (8, true, "123"));
        assert_eq!(settings.kinds.get("log_").map(String::as_str), Some("x"));
        for (name, value) in [("TOP_K", "x"), ("TOP_K", "-1"), ("ON", "maybe"), ("KINDS", "bad")] {
            let error = load(&[(&format!("KUHAKU_SAMPLE__{name}"), value)]).unwrap_err();
            assert!(error.to_string().contains(&name.to_lowercase()), "{error}");
            assert!(!error.to_string().contains("maybe"), "values are not quoted");
        }
    }

    /// CFG-05
    #[test]
    fn one_error_lists_every_problem() {
        let error = load(&[("KUHAKU_SAMPLE__TOP_K", "0"), ("KUHAKU_SAMPLE__ON", "x")]).unwrap_err();
        assert_eq!(error.code(), "core.invalid_settings");
        assert!(error.wrong().contains("sample.top_k") && error.wrong().contains("sample.on"));
    }

    /// CFG-07
    #[test]
    fn files_are_read_only_when_named_and_the_environment_wins() {
        let folder = tempfile::tempdir().unwrap();
        let dotenv = folder.path().join(".env");
        std::fs::write(&dotenv, "KUHAKU_SAMPLE__TOP_K=5\nKUHAKU_SAMPLE__MODEL=b\n").unwrap();
        let toml = folder.path().join("kuhaku.toml");
        std::fs::write(&toml, "[sample]\ntop_k = 6\nmodel = \"c\"\non = true\n").unwrap();
        assert_eq!(SampleSettings::load(&Sources::new()).unwrap().top_k, 4);
        let sources = Sources::new().toml(&toml).unwrap().dotenv(&dotenv).unwrap();
        let sources = sources.env([("KUHAKU_SAMPLE__TOP_K", "9")]);
        let settings = SampleSettings::load(&sources).unwrap();
        assert_eq!((settings.top_k, settings.model.as_str(), settings.on), (9, "b", true));
    }

    #[test]
    fn broken_files_are_errors_that_do_not_quote_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "KEY sk-secret \"\n= =").unwrap();
        for error in [
            Sources::new().toml(&path).unwrap_err(),
            Sources::new().dotenv(&path).unwrap_err(),
            Sources::new().toml(folder.path()).unwrap_err(),
        ] {
            assert_eq!(error.code(), "core.settings_file");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }

    /// R13
    #[test]
    fn an_unknown_name_is_reported_with_the_nearest_one() {
        let folder = tempfile::tempdir().unwrap();
        let toml = folder.path().join("kuhaku.toml");
        std::fs::write(&toml, "[sample]\ntopk = 6\nkinds = { a = \"b\" }\n").unwrap();
        let sources = Sources::new().toml(&toml).unwrap().env([
            ("KUHAKU_SAMPLE__TOPK", "1"),
            ("KUHAKU_XYZZY", "1"),
            ("KUHAKU_TEST_MODELS", "x"),
            ("PATH", "y"),
        ]);
        let unknown = sources.unknown_names(&[("sample", SampleSettings::fields())], &[]);
        let found: Vec<_> =
            unknown.iter().map(|u| (u.name.as_str(), u.nearest.as_deref())).collect();
        let expected = [
            ("KUHAKU_SAMPLE__TOPK", Some("KUHAKU_SAMPLE__TOP_K")),
            ("KUHAKU_XYZZY", None),
            ("sample.topk", Some("sample.top_k")),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_deeply_nested_name_is_only_unknown() {
        let name = format!("KUHAKU_{}", "A__".repeat(50_000));
        let sources = Sources::new().env([(name.as_str(), "1")]);
        assert_eq!(SampleSettings::load(&sources).unwrap().top_k, 4);
        assert_eq!(sources.unknown_names(&[("sample", SampleSettings::fields())], &[]).len(), 1);
    }

    crate::settings! {
        /// A section within a section.
        struct InnerSettings in "sample.inner" {
            /// A switch.
            on: bool = false;
        }
    }

    #[test]
    fn a_section_within_another_has_the_same_sources() {
        let folder = tempfile::tempdir().unwrap();
        let toml = folder.path().join("kuhaku.toml");
        std::fs::write(&toml, "[sample.inner]\non = true\n").unwrap();
        let file = Sources::new().toml(&toml).unwrap();
        assert!(InnerSettings::load(&file).unwrap().on);
        let off =
            file.clone().env([("KUHAKU_SAMPLE__INNER__ON", "no"), ("KUHAKU_SAMPLE__ON", "1")]);
        assert!(!InnerSettings::load(&off).unwrap().on);
        assert!(SampleSettings::load(&off).unwrap().on);
        assert!(InnerSettings::load(&off.clone().set("sample.inner.on", true)).unwrap().on);
        let sections =
            [("sample", SampleSettings::fields()), ("sample.inner", InnerSettings::fields())];
        assert!(off.unknown_names(&sections, &[]).is_empty());
    }

    /// CFG-10
    #[test]
    fn a_key_never_shows() {
        let settings = load(&[("SAMPLE_KEY", "sk-secret")]).unwrap();
        assert!(!format!("{settings:?}").contains("sk-secret"));
        assert!(SampleSettings::fields().iter().all(|field| !field.default.contains("secret")));
    }

    #[test]
    fn problems_read_as_sentences() {
        let mut problems = Problems::default();
        problems.add("a.b", "must be c");
        assert_eq!(problems.iter().collect::<Vec<_>>(), ["a.b must be c"]);
    }
}

//! Where things lie.

use std::path::{Path, PathBuf};

use super::model_name::ModelName;
use super::settings::StoreSettings;
use crate::error::{Error, ErrorKind, Result};

/// The folders of the store.
#[derive(Clone, Debug)]
pub(super) struct Places {
    hub: PathBuf,
    own: PathBuf,
}

impl Places {
    pub(super) fn new(settings: &StoreSettings, home: Option<&Path>) -> Result<Self> {
        // What a shell writes out for its own variables, nobody does in files of settings.
        let expanded = |path: &Option<PathBuf>| {
            let path = path.as_ref()?;
            let below = path.strip_prefix("~").ok().zip(home).map(|(rest, home)| home.join(rest));
            Some(below.unwrap_or_else(|| path.clone()))
        };
        let settings = &StoreSettings {
            caches: expanded(&settings.caches),
            home: expanded(&settings.home),
            cache: expanded(&settings.cache),
            ..settings.clone()
        };
        let caches = settings.caches.clone().or_else(|| Some(home?.join(".cache")));
        let own = caches.as_ref().or(settings.home.as_ref()).or(settings.cache.as_ref());
        let own = own.map(|folder| folder.join("kuhaku"));
        let hub = settings.cache.clone().or_else(|| {
            let clients = settings.home.clone();
            Some(clients.or_else(|| Some(caches?.join("huggingface")))?.join("hub"))
        });
        let unknown = || {
            let wrong = "the home folder of this account is not known";
            Error::new(
                ErrorKind::Core(kuhaku_core::ErrorKind::InvalidSettings),
                "find the folder of models",
                wrong,
            )
            .next("set HF_HOME or XDG_CACHE_HOME to a folder")
        };
        Ok(Self { hub: hub.ok_or_else(unknown)?, own: own.ok_or_else(unknown)? })
    }

    /// The cache that clients of the hub share.
    pub(super) fn hub(&self) -> &Path {
        &self.hub
    }

    /// The folder of a repository in the cache.
    pub(super) fn repository(&self, model: &ModelName) -> PathBuf {
        self.hub.join(format!("models--{}", model.joined()))
    }

    pub(super) fn snapshots(&self, model: &ModelName) -> PathBuf {
        self.repository(model).join("snapshots")
    }

    /// Where files lie that are not whole yet, in the name of a commit.
    pub(super) fn blobs(&self, model: &ModelName) -> PathBuf {
        self.repository(model).join("blobs")
    }

    pub(super) fn locks(&self, model: &ModelName) -> PathBuf {
        self.hub.join(".locks").join(format!("models--{}", model.joined()))
    }

    /// Which commit a name of one, such as `main`, meant when it was last asked for.
    pub(super) fn reference(&self, model: &ModelName, name: &str) -> PathBuf {
        self.repository(model).join("refs").join(name)
    }

    pub(super) fn record(&self, model: &ModelName, commit: &str) -> PathBuf {
        self.own.join("models").join(model.joined()).join(format!("{commit}.json"))
    }

    /// The folder of the runtime library of a version.
    pub(super) fn library(&self, version: &str, platform: &str) -> PathBuf {
        self.own.join("onnxruntime").join(version).join(platform)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(set: impl Fn(&mut StoreSettings), home: Option<&str>) -> Result<Places> {
        let mut settings = StoreSettings::default();
        set(&mut settings);
        Places::new(&settings, home.map(Path::new))
    }

    #[test]
    fn folders_are_found_as_clients_of_the_hub_find_them() {
        let home = Some("/h/ada");
        let found = |set: &dyn Fn(&mut StoreSettings)| places(set, home).unwrap().hub;
        assert_eq!(found(&|_| {}), Path::new("/h/ada/.cache/huggingface/hub"));
        assert_eq!(found(&|s| s.caches = Some("/c".into())), Path::new("/c/huggingface/hub"));
        assert_eq!(found(&|s| s.home = Some("/hf".into())), Path::new("/hf/hub"));
        assert_eq!(found(&|s| s.home = Some("~/hf".into())), Path::new("/h/ada/hf/hub"));
        assert_eq!(found(&|s| s.cache = Some("~hub".into())), Path::new("~hub"));
        let both = |s: &mut StoreSettings| {
            s.home = Some("/hf".into());
            s.cache = Some("/hub".into());
        };
        assert_eq!(found(&both), Path::new("/hub"));
        assert_eq!(places(both, home).unwrap().own, Path::new("/h/ada/.cache/kuhaku"));
    }

    #[test]
    fn without_any_folder_the_error_names_what_to_set() {
        let error = places(|_| {}, None).unwrap_err();
        assert!(error.next_step().unwrap().contains("HF_HOME"), "{error}");
        assert_eq!(
            places(|s| s.home = Some("/hf".into()), None).unwrap().own,
            Path::new("/hf/kuhaku")
        );
    }
}

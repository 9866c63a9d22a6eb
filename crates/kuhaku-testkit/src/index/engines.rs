//! The engines of `kuhaku-index` under test.

use async_trait::async_trait;
use kuhaku_index::{Ann, ChunkIndex, Error, Fault, Fingerprint, IdKey, MemoryIndex};

use super::{IndexFactory, Subject};

/// Makes [`MemoryIndex`]es, whole or broken.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryFactory {
    fault: Option<Fault>,
}

impl MemoryFactory {
    /// Whole ones.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ones with a fault.
    pub fn broken(fault: Fault) -> Self {
        Self { fault: Some(fault) }
    }
}

#[async_trait]
impl IndexFactory for MemoryFactory {
    async fn make(&self, fingerprint: Fingerprint, key: IdKey) -> Result<Box<dyn Subject>, Error> {
        Ok(Box::new(match self.fault {
            Some(fault) => MemoryIndex::with_fault(fingerprint, key, fault),
            None => MemoryIndex::new(fingerprint, key),
        }))
    }
}

#[async_trait]
impl Subject for MemoryIndex {
    fn index(&self) -> &dyn ChunkIndex {
        self
    }

    async fn reopen(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Makes [`MemoryIndex`]es that search by graphs, which are always there, wherever a set of access
/// tags has more than two vectors.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphsFactory;

const GRAPHS: Ann = Ann::Auto { above: 2 };

#[async_trait]
impl IndexFactory for GraphsFactory {
    async fn make(&self, fingerprint: Fingerprint, key: IdKey) -> Result<Box<dyn Subject>, Error> {
        Ok(Box::new(Graphs(MemoryIndex::new(fingerprint, key).ann(GRAPHS))))
    }
}

#[derive(Debug)]
struct Graphs(MemoryIndex);

#[async_trait]
impl Subject for Graphs {
    fn index(&self) -> &dyn ChunkIndex {
        self.0.build_graphs();
        &self.0
    }

    async fn reopen(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(feature = "sqlite")]
mod on_disk {
    use kuhaku_core::Runtime;
    use kuhaku_index::{ErrorKind, OpenOptions, SqliteIndex};

    use super::*;

    /// Makes [`SqliteIndex`]es in folders of their own, which go with them.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct SqliteFactory {
        ann: Ann,
    }

    impl SqliteFactory {
        /// Ones that compare all vectors.
        pub fn new() -> Self {
            Self::default()
        }

        /// Ones with graphs of sets of more than two vectors. They are built at opening again, and are
        /// out of date after some of the changes.
        pub fn with_graphs() -> Self {
            Self { ann: GRAPHS }
        }
    }

    #[async_trait]
    impl IndexFactory for SqliteFactory {
        async fn make(
            &self,
            fingerprint: Fingerprint,
            key: IdKey,
        ) -> Result<Box<dyn Subject>, Error> {
            let folder = tempfile::tempdir().map_err(|error| {
                Error::new(ErrorKind::Storage, "make a temporary folder", error.to_string())
            })?;
            let options = OpenOptions::new(folder.path(), Runtime::system())
                .create(true)
                .fingerprint(fingerprint)
                .id_key(key);
            let index = SqliteIndex::open(options.ann(self.ann)).await?;
            Ok(Box::new(OnDisk { index, folder, ann: self.ann }))
        }
    }

    struct OnDisk {
        index: SqliteIndex,
        folder: tempfile::TempDir,
        ann: Ann,
    }

    #[async_trait]
    impl Subject for OnDisk {
        fn index(&self) -> &dyn ChunkIndex {
            &self.index
        }

        async fn reopen(&mut self) -> Result<(), Error> {
            self.index.close().await;
            let options = OpenOptions::new(self.folder.path(), Runtime::system());
            self.index = SqliteIndex::open(options.ann(self.ann)).await?;
            Ok(())
        }
    }
}

#[cfg(feature = "sqlite")]
pub use on_disk::SqliteFactory;

//! The suites of the testkit over both engines, and the faults that they must find.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

use kuhaku_index::Fault;
use kuhaku_testkit::index::{
    GraphsFactory, MemoryFactory, NonInterference, conformance, non_interference,
};

#[tokio::test]
async fn the_memory_engine_conforms() {
    conformance(&MemoryFactory::new()).await.unwrap();
}

/// R4, by D4 and D5.
#[tokio::test]
async fn hidden_documents_change_nothing_that_a_caller_of_the_memory_engine_sees() {
    let proof =
        non_interference(&MemoryFactory::new(), NonInterference::cases(2_500)).await.unwrap();
    println!("{proof}");
    assert!(proof.telling * 2 >= proof.cases, "{proof}");
    assert!(proof.telling_by_vectors * 2 >= proof.cases, "{proof}");
    assert!(proof.with_hits * 2 >= proof.cases, "{proof}");
}

/// R4, D8
#[tokio::test]
async fn hidden_documents_change_nothing_that_is_found_by_graphs() {
    let settings = NonInterference::cases(2_000).seed(5).beside_memory();
    let proof = non_interference(&GraphsFactory, settings).await.unwrap();
    println!("{proof}");
    assert!(proof.telling_by_vectors * 2 >= proof.cases, "{proof}");
}

/// R4: the suite can fail.
#[tokio::test]
async fn the_suite_is_red_on_every_seeded_fault() {
    for fault in Fault::ALL {
        let broken = MemoryFactory::broken(fault);
        let run = non_interference(&broken, NonInterference::cases(2_500)).await;
        let violation = run.expect_err(&format!("{fault:?} was not found"));
        println!("{fault:?}: {violation}");
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use kuhaku_core::Runtime;
    use kuhaku_index::{ChunkIndex, Error, Fingerprint, IdKey, OpenOptions, SqliteIndex};
    use kuhaku_testkit::index::{IndexFactory, SqliteFactory, Subject};

    use super::*;

    /// Closed at every other opening again; else as if the process had been killed, so that the
    /// snapshot is of an earlier transaction.
    struct Killed {
        folder: tempfile::TempDir,
        fault: Option<Fault>,
        close: bool,
        index: SqliteIndex,
    }

    fn with_fault(options: OpenOptions, fault: Option<Fault>) -> OpenOptions {
        match fault {
            Some(fault) => options.fault(fault),
            None => options,
        }
    }

    #[async_trait]
    impl Subject for Killed {
        fn index(&self) -> &dyn ChunkIndex {
            &self.index
        }

        async fn reopen(&mut self) -> Result<(), Error> {
            if std::mem::replace(&mut self.close, false) {
                self.index.close().await;
            } else {
                self.close = true;
            }
            let options = OpenOptions::new(self.folder.path(), Runtime::system());
            self.index = SqliteIndex::open(with_fault(options, self.fault)).await?;
            Ok(())
        }
    }

    #[derive(Default)]
    struct KilledFactory {
        fault: Option<Fault>,
    }

    #[async_trait]
    impl IndexFactory for KilledFactory {
        async fn make(
            &self,
            fingerprint: Fingerprint,
            key: IdKey,
        ) -> Result<Box<dyn Subject>, Error> {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let options = OpenOptions::new(folder.path(), Runtime::system())
                .create(true)
                .fingerprint(fingerprint)
                .id_key(key);
            let index = SqliteIndex::open(with_fault(options, self.fault)).await?;
            Ok(Box::new(Killed { folder, fault: self.fault, close: true, index }))
        }
    }

    /// R4, by D4 and D5, through snapshots and what was committed after them.
    #[tokio::test]
    async fn hidden_documents_change_nothing_that_is_seen_through_snapshots() {
        let settings = NonInterference::cases(60).seed(4).reopening().beside_memory();
        let proof = non_interference(&KilledFactory::default(), settings).await.unwrap();
        println!("{proof}");
        assert!(proof.telling * 2 >= proof.cases, "{proof}");
    }

    /// R4: the suite can fail there.
    #[tokio::test]
    async fn the_suite_is_red_on_faults_of_snapshots() {
        for fault in [Fault::StaleSnapshot, Fault::DeltaWithoutTags] {
            let broken = KilledFactory { fault: Some(fault) };
            let settings = NonInterference::cases(300).seed(4).reopening().beside_memory();
            let run = non_interference(&broken, settings).await;
            let violation = run.expect_err(&format!("{fault:?} was not found"));
            println!("{fault:?}: {violation}");
        }
    }

    /// Two handles on one folder that take turns.
    struct InTurn {
        handles: [SqliteIndex; 2],
        turn: AtomicUsize,
        _folder: tempfile::TempDir,
    }

    #[async_trait]
    impl Subject for InTurn {
        fn index(&self) -> &dyn ChunkIndex {
            &self.handles[self.turn.fetch_add(1, Ordering::Relaxed) % 2]
        }

        fn handles(&self) -> Vec<&dyn ChunkIndex> {
            self.handles.iter().map(|handle| handle as &dyn ChunkIndex).collect()
        }

        async fn reopen(&mut self) -> Result<(), Error> {
            Ok(())
        }
    }

    #[derive(Default)]
    struct InTurnFactory {
        fault: Option<Fault>,
    }

    #[async_trait]
    impl IndexFactory for InTurnFactory {
        async fn make(
            &self,
            fingerprint: Fingerprint,
            key: IdKey,
        ) -> Result<Box<dyn Subject>, Error> {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let options = || {
                let options = OpenOptions::new(folder.path(), Runtime::system())
                    .create(true)
                    .fingerprint(fingerprint.clone())
                    .id_key(key.clone());
                match self.fault {
                    Some(fault) => options.fault(fault),
                    None => options,
                }
            };
            let handles =
                [SqliteIndex::open(options()).await?, SqliteIndex::open(options()).await?];
            Ok(Box::new(InTurn { handles, turn: AtomicUsize::new(0), _folder: folder }))
        }
    }

    /// R4, by D4 and D5, with writes that alternate between two handles and reads through both.
    #[tokio::test]
    async fn hidden_documents_change_nothing_that_is_seen_through_either_of_two_handles() {
        let settings = NonInterference::cases(60).seed(3);
        let proof = non_interference(&InTurnFactory::default(), settings).await.unwrap();
        println!("{proof}");
        assert!(proof.telling * 2 >= proof.cases, "{proof}");
    }

    /// R4: the suite can fail there.
    #[tokio::test]
    async fn the_suite_is_red_on_faults_of_two_handles() {
        for fault in [
            Fault::OtherHandlesIgnored,
            Fault::DeltaWithoutTags,
            Fault::GlobalStatistics,
            Fault::ChangedTagsIgnored,
        ] {
            let broken = InTurnFactory { fault: Some(fault) };
            let run = non_interference(&broken, NonInterference::cases(300).seed(3)).await;
            let violation = run.expect_err(&format!("{fault:?} was not found"));
            println!("{fault:?}: {violation}");
        }
    }

    /// How many histories are followed on disk: 60, which takes seconds, or as many as a person asks for.
    fn cases() -> usize {
        let asked = std::env::var("KUHAKU_R4_CASES").ok();
        asked.map_or(60, |cases| cases.parse().expect("KUHAKU_R4_CASES is a number"))
    }

    #[tokio::test]
    async fn the_engine_on_disk_conforms() {
        conformance(&SqliteFactory::new()).await.unwrap();
    }

    /// R4, by D4 and D5, through closing and opening again.
    #[tokio::test]
    async fn hidden_documents_change_nothing_that_a_caller_of_the_engine_on_disk_sees() {
        let settings = NonInterference::cases(cases()).seed(2).reopening();
        let proof = non_interference(&SqliteFactory::new(), settings).await.unwrap();
        println!("{proof}");
        assert!(proof.telling * 2 >= proof.cases, "{proof}");
    }

    /// R4, D8
    #[tokio::test]
    async fn hidden_documents_change_nothing_that_is_found_by_graphs_on_disk() {
        let graphs = SqliteFactory::with_graphs();
        let settings = NonInterference::cases(cases()).seed(6).reopening();
        let proof = non_interference(&graphs, settings).await.unwrap();
        println!("{proof}");
        assert!(proof.telling_by_vectors * 2 >= proof.cases, "{proof}");
    }
}

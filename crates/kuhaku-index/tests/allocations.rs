//! A warm query allocates its result and nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unsafe_code,
    reason = "tests; an allocator is unsafe by its trait, and this one only counts"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use kuhaku_core::Scope;
use kuhaku_index::{Batch, Fingerprint, IdKey, Language, MemoryIndex, SparseQuery, Tokenizer};
use kuhaku_testkit::index::Scale;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_query_whose_words_came_before_allocates_its_hits_alone() {
    let corpus = Scale::new();
    let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none");
    let index = MemoryIndex::new(fingerprint, IdKey::from_bytes([1; 32]));
    let all = (0..1_200).map(|number| corpus.document(number).unwrap());
    index.write(all.fold(Batch::new(), Batch::upsert)).unwrap();
    let view = index.view(&Scope::anonymous());
    for query in corpus.common(20).into_iter().chain(corpus.rare(20)) {
        let query = SparseQuery::new(query, 10);
        let expected = view.sparse(&query).unwrap();
        let before = ALLOCATIONS.get();
        let found = view.sparse(&query).unwrap();
        let allocations = ALLOCATIONS.get() - before;
        assert_eq!(found, expected);
        assert_eq!(allocations, usize::from(!found.is_empty()), "{query:?}");
    }
}

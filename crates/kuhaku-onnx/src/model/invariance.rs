//! Whether a model's numbers for a row depend on the rows beside it (D7). Models in dynamic int8 do:
//! the scale of an activation spans the batch.

use super::tokenizer::{Row, TextTokenizer};
use crate::error::Result;
use crate::schedule::{Grouping, Pool, Urgency, batches};

/// How many tokens the rows of the measurement have. Two are of one length; the shortest is filled
/// up to many times its own.
const LENGTHS: [usize; 4] = [33, 4, 33, 13];

/// Runs rows alone and together and compares every bit. Together whatever the budget of a batch: a
/// small one would keep these rows apart, and put shorter ones together unmeasured.
///
/// # Errors
/// As for [`Pool::infer`].
pub(super) async fn measure(
    pool: &Pool,
    tokenizer: &TextTokenizer,
    longest: usize,
) -> Result<Grouping> {
    let rows: Vec<Row> = rows(tokenizer, longest);
    let lengths: Vec<usize> = rows.iter().map(Row::len).collect();
    let run = |rows: Vec<Row>, grouping| {
        pool.infer_in(Urgency::Interactive, rows, batches(&lengths, usize::MAX, grouping))
    };
    let alone = run(rows.clone(), Grouping::Alone).await?;
    if same(&alone, &run(rows.clone(), Grouping::Any).await?) {
        return Ok(Grouping::Any);
    }
    if same(&alone, &run(rows, Grouping::EqualLengths).await?) {
        return Ok(Grouping::EqualLengths);
    }
    Ok(Grouping::Alone)
}

/// Rows of tokens from all over the vocabulary.
fn rows(tokenizer: &TextTokenizer, longest: usize) -> Vec<Row> {
    let numbers = u64::from(tokenizer.highest()) + 1;
    let mut seed = 1u64;
    let mut token = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((seed >> 33) % numbers).unwrap_or(0)
    };
    let lengths = LENGTHS.iter().map(|length| *length.min(&longest));
    let content = lengths.map(|length| length.saturating_sub(tokenizer.specials()).max(1));
    content
        .map(|length| {
            let content: Vec<u32> = (0..length).map(|_| token()).collect();
            tokenizer.surround([&[], &content])
        })
        .collect()
}

fn same(one: &[Vec<f32>], other: &[Vec<f32>]) -> bool {
    let bits = |numbers: &[Vec<f32>]| -> Vec<u32> {
        numbers.iter().flatten().map(|number| number.to_bits()).collect()
    };
    bits(one) == bits(other)
}

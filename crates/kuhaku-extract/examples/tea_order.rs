//! An order over two messages: what is missing is asked for, and the reply completes it.
//!
//! `cargo run -p kuhaku-extract --example tea_order`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;

use kuhaku_extract::{ExtractRequest, ExtractionStatus, Extractor, Fields, Schema};
use kuhaku_testkit::ScriptedLlm;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Stands in for any model; kuhaku-llm has real ones.
    let model = Arc::new(ScriptedLlm::new([
        r#"{"data": {"product": "tea", "quantity": null}}"#,
        r#"{"data": {"product": null, "quantity": 3}, "new": false}"#,
    ]));
    let schema = Schema::from_fields(Fields::new().text("product").number("quantity"))?;
    let order = Extractor::builder(schema, model).build()?;

    let result = order.extract("tea please").await?;
    println!("{}", result.status);
    println!("{}", result.question.as_deref().unwrap_or_default());
    assert_eq!(result.status, ExtractionStatus::NeedsClarification);
    assert_eq!(result.question.as_deref(), Some("Could you also tell me: quantity?"));

    let result = order.extract(ExtractRequest::new("3 boxes").prior(&result)).await?;
    println!("{}", result.status);
    println!("{}", result.data.clone().unwrap_or_default());
    assert_eq!(result.status, ExtractionStatus::Complete);
    assert_eq!(result.data, Some(serde_json::json!({"product": "tea", "quantity": 3})));
    Ok(())
}

use kuhaku::{ExtractRequest, ExtractorChoice, Fields, Runtime, Schema, Sources};

#[tokio::main(flavor = "current_thread")]
async fn main() -> kuhaku::Result<()> {
    let choice = ExtractorChoice::from_sources(&Sources::from_process_env(), Runtime::system())?;
    let schema = Schema::from_fields(Fields::new().text("product").number("quantity"))?;
    let order = choice.builder(schema).await?.build()?;

    let result = order.extract("tea please").await?;
    println!("{}", result.status); // needs_clarification
    println!("{}", result.question.as_deref().unwrap_or_default()); // Could you also tell me: quantity?

    let result = order.extract(ExtractRequest::new("3 boxes").prior(&result)).await?;
    println!("{}", result.status); // complete
    println!("{}", result.data.unwrap_or_default()); // {"product":"tea","quantity":3}
    Ok(())
}

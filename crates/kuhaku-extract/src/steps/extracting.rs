//! Asking the model.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::ask::Ask;
use crate::context::Context;
use crate::schema::Problem;
use crate::step::{Step, StepError};

#[derive(Debug)]
pub(crate) struct Extracting;

impl Extracting {
    pub(crate) const NAME: &'static str = "extract";
}

#[async_trait]
impl Step for Extracting {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn run(&self, context: &mut Context) -> Result<(), StepError> {
        let core = context.core.clone();
        if let Some(asked) = context.given.asked.take() {
            context.asked = asked;
        } else if context.text.trim().is_empty() {
            context.set_data(&Value::Object(Map::new()));
            return Ok(());
        } else {
            let prompt = context.prompt();
            let read = |reply: &Value| -> Option<Vec<Problem>> {
                let data = data_of(reply)?;
                Some(core.schema.check(data, &core.coercion).problems)
            };
            let (limit, outlet) = (context.limit, context.given.outlet.as_ref());
            let used = context.given.spent;
            let ask = Ask { core: &core, prompt: &prompt, read: &read, limit, outlet, used };
            context.asked = ask.run().await?;
        }
        if let Some(data) = context.asked.reply.as_ref().and_then(data_of).cloned() {
            context.set_data(&data);
        }
        Ok(())
    }
}

/// The data of a reply, if it has the form of one.
pub(crate) fn data_of(reply: &Value) -> Option<&Value> {
    reply.get("data").filter(|data| data.is_object())
}

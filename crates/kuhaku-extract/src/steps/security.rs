//! Masking and the injection guard, before any model sees anything. Each is off unless set.

use async_trait::async_trait;
use kuhaku_core::{GuardFamily, Masker, Redactions};

use crate::context::Context;
use crate::observed;
use crate::step::{Step, StepError};
use crate::tree::{map_names, map_texts, texts};

#[derive(Debug)]
pub(crate) struct Security;

impl Security {
    pub(crate) const NAME: &'static str = "security";
}

#[async_trait]
impl Step for Security {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn prepare(&self, context: &mut Context) -> Result<(), StepError> {
        let core = context.core.clone();
        if core.security.sanitize {
            observed::mask(&core.runtime).measure(|span| {
                mask(context, core.masking.get());
                span.record("kuhaku.redactions", context.redactions.total());
            });
            for (placeholder, count) in context.redactions.iter() {
                let count = u64::try_from(count).unwrap_or(u64::MAX);
                core.runtime.count("masking_redactions_total", placeholder, count);
            }
        }
        if core.security.input_guard {
            let found = observed::guard(&core.runtime).measure(|span| {
                let found = screen(context);
                span.record("kuhaku.guard", found.map(|(family, _)| family.as_str()));
                found
            });
            if let Some((family, part)) = found {
                let message = format!("{part} looks like an attack on the instructions");
                context.block(family.as_str(), message);
            }
        }
        Ok(())
    }
}

/// Masks all that a model would see.
fn mask(context: &mut Context, masker: &dyn Masker) {
    let mut redactions = Redactions::default();
    let mut masked = |text: &str| {
        let masked = masker.mask(text);
        redactions.merge(masked.redactions());
        masked.into_parts().0
    };
    for message in &mut context.history {
        message.text = masked(&message.text);
    }
    if let Some(reference) = &mut context.reference {
        map_texts(reference, &mut masked);
        map_names(reference, &mut |name| Some(masked(name)));
    }
    if let Some(known) = &mut context.known {
        map_texts(&mut known.shown, &mut masked);
        // Names of the schema are the program's own, and shown with it.
        let schema = context.core.schema.wire_text();
        let own = |name: &str| schema.contains(&serde_json::Value::from(name).to_string());
        map_names(&mut known.shown, &mut |name| (!own(name)).then(|| masked(name)));
    }
    for block in &mut context.blocks {
        block.content = masked(&block.content).into();
    }
    let text = masker.mask(&context.text);
    redactions.merge(text.redactions());
    let (text, map, _) = text.into_parts();
    (context.text, context.mask) = (text, Some(map));
    context.redactions = redactions;
}

/// The first part that looks like an attack.
fn screen(context: &Context) -> Option<(GuardFamily, &'static str)> {
    let guard = context.core.guard.get();
    let history = context.history.iter().map(|message| message.text.as_str());
    let reference = context.reference.iter().flat_map(texts);
    let known = context.known.iter().flat_map(|known| texts(&known.shown));
    let parts = [(context.text.as_str(), "the text")]
        .into_iter()
        .chain(history.map(|text| (text, "a message before the text")))
        .chain(reference.map(|text| (text, "the reference")))
        .chain(known.map(|text| (text, "a value of an earlier turn")));
    let mut attacks =
        parts.filter_map(|(text, part)| guard.screen(text).blocked().map(|family| (family, part)));
    attacks.next()
}

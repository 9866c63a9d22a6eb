//! The application's own rules on complete values.

use async_trait::async_trait;

use crate::context::Context;
use crate::issue::{Issue, IssueKind};
use crate::pipeline::component;
use crate::rule::{Rule, Violation};
use crate::schema::Missing;
use crate::step::{Step, StepError};

#[derive(Debug)]
pub(crate) struct Rules(pub(crate) Vec<Rule>);

impl Rules {
    pub(crate) const NAME: &'static str = "rules";
}

#[async_trait]
impl Step for Rules {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn run(&self, context: &mut Context) -> Result<(), StepError> {
        let Some(value) = context.value().cloned() else { return Ok(()) };
        for rule in &self.0 {
            let checking = async {
                rule.check(&value).await.map_err(|cause| {
                    component(
                        format!("check the rule `{}` of the step `rules`", rule.name()),
                        cause,
                    )
                })
            };
            for violation in context.limit.of(checking).await? {
                note(context, violation);
            }
        }
        Ok(())
    }
}

fn note(context: &mut Context, violation: Violation) {
    let Violation { asks, code, message, path } = violation;
    let kind = if asks { IssueKind::NeedsClarification } else { IssueKind::Invalid };
    if let Some(path) = path.as_ref().filter(|_| asks) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let name = name.replace("~1", "/").replace("~0", "~");
        context.wanted.push(Missing { path: path.clone(), name, description: None });
    }
    let issue = Issue::new(kind, code, message);
    context.issues.push(Issue { path, ..issue });
}

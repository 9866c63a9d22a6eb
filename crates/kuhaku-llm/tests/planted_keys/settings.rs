//! Keys in settings, also under the wrong ones, before anything is called.

use kuhaku_core::{
    CandidateSource as _, Capability, HttpClient, Resolver, Runtime, Section as _, Sources,
};
use kuhaku_llm::LlmSettings;

use crate::watch::Watch;
use crate::{MARK, planted};

fn load(name: &str, value: &str) -> kuhaku_core::Result<LlmSettings> {
    let variable = format!("KUHAKU_{}", name.to_uppercase());
    LlmSettings::load(&Sources::new().env([(variable, value)]))
}

#[test]
fn a_key_under_the_wrong_setting_is_not_quoted() {
    let watch = Watch::default();
    let mut refused = 0;
    for field in LlmSettings::fields() {
        match load(field.name, &planted(field.name)) {
            Err(error) => {
                refused += 1;
                watch.see_error(&error);
            }
            Ok(settings) if field.kind == "a secret" => {
                watch.see(field.name, &format!("{settings:?} {settings:#?}"));
            }
            // Models and places are no secrets, and are shown.
            Ok(_) => {}
        }
    }
    assert!(refused > 0);
    assert_eq!(watch.lines_with(MARK), "");
}

#[tokio::test]
async fn a_password_in_an_address_is_shown_nowhere() {
    let (watch, http) = (Watch::default(), HttpClient::builder().build().unwrap());
    let runtime = Runtime::builder().announcer(watch.clone()).build();
    let key = planted("address");
    let addresses = [
        format!("http://me:{key}@127.0.0.1:9/v1"),
        format!("http://{key}@127.0.0.1:9"),
        format!("http://127.0.0.1:9/v1?key={key}"),
    ];
    let mut tried = 0;
    for field in LlmSettings::fields() {
        let Some(service) = field.name.strip_suffix("_base_url") else { continue };
        for address in &addresses {
            let mut settings = load(field.name, address).unwrap();
            settings.openai_api_key = Some("k".to_owned().into());
            settings.anthropic_api_key = settings.openai_api_key.clone();
            settings.groq_api_key = settings.openai_api_key.clone();
            settings.openrouter_api_key = settings.openai_api_key.clone();
            watch.see("the settings", &format!("{settings:?} {settings:#?}"));
            let error = settings.provider(&format!("{service}:m"), &http, &runtime).unwrap_err();
            assert!(error.to_string().contains("address"), "{error}");
            watch.see_error(&error);
            let capability = Capability::new("llm", "a language model", "questions");
            let mut resolver = Resolver::new(runtime.clone(), capability).requested(service);
            for source in settings.candidates(&http) {
                watch.see("a source", &format!("{source:?}"));
                watch.see("a candidate", &format!("{:?}", source.probe().await));
                resolver = resolver.source(source);
            }
            match resolver.resolve().await {
                Ok(resolution) => watch.see("a resolution", &resolution.explain()),
                Err(error) => watch.see_error(&error),
            }
            tried += 1;
        }
    }
    assert_eq!(tried, 7 * addresses.len());
    assert_eq!(watch.lines_with(MARK), "");
}

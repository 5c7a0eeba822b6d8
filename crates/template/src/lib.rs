//! Templates: four languages, one renderer. Data to data: nothing is run, read or included, and nothing is escaped.
//!
//! Each language is parsed into one tree (`node`), which one renderer (`eval`) turns into text under one budget, so that a
//! hostile template costs no more in one language than in another. Read in this order: `node`, `lookup`, `eval`, `expr`,
//! then a language: `interpolate`, `mustache`, `handlebars` (the last two cut their text into `tags`), `jinja`.

mod budget;
mod error;
mod eval;
mod expr;
mod filters;
mod handlebars;
mod interpolate;
mod jinja;
mod lookup;
mod mustache;
mod node;
mod tags;

#[cfg(test)]
mod tests;

use model::hint::TemplateFormat;
use serde_json::Value;

pub use error::TemplateError;

/// Renders a template with the members of `data`.
pub fn render(format: TemplateFormat, body: &str, data: &Value) -> Result<String, TemplateError> {
    let nodes = match format {
        TemplateFormat::Interpolate => interpolate::read(body)?,
        TemplateFormat::Mustache => mustache::read(body)?,
        TemplateFormat::Handlebars => handlebars::read(body)?,
        TemplateFormat::Jinja => jinja::read(body)?,
    };
    eval::Renderer::new(data).render(&nodes)
}

//! Mustache: variables, sections, inverted sections, comments and set delimiters. There are no partials, because
//! there is nothing to include.

use super::error::{TemplateError, broken, check_nesting, shown};
use super::node::{Base, Expr, NamePath, Node};
use super::tags::{Dialect, TemplatePiece, pieces};

/// A section that is not closed yet.
struct OpenSection<'t> {
    name: &'t str,
    inverted: bool,
    at: usize,
    /// The nodes before it.
    before: Vec<Node<'t>>,
}

pub(super) fn read(text: &str) -> Result<Vec<Node<'_>>, TemplateError> {
    let mut nodes = Vec::new();
    let mut open: Vec<OpenSection<'_>> = Vec::new();
    for piece in pieces(text, Dialect::Mustache)? {
        let tag = match piece {
            TemplatePiece::Text(text) => {
                nodes.push(Node::Text(text));
                continue;
            }
            TemplatePiece::Tag(tag) => tag,
        };
        let refuse = |why: String| Err(broken(text, tag.at, why));
        match tag.sigil {
            Some('!' | '=') => {}
            Some(sigil @ ('#' | '^')) => {
                path(text, tag.body, tag.at)?;
                let before = std::mem::take(&mut nodes);
                open.push(OpenSection {
                    name: tag.body,
                    inverted: sigil == '^',
                    at: tag.at,
                    before,
                });
                check_nesting(open.len())?;
            }
            Some('/') => match open.pop() {
                Some(section) if section.name == tag.body => {
                    let of = path(text, section.name, section.at)?;
                    let inside = std::mem::replace(&mut nodes, section.before);
                    let (body, otherwise) =
                        if section.inverted { (Vec::new(), inside) } else { (inside, Vec::new()) };
                    nodes.push(Node::Section { of, body, otherwise });
                }
                _ => return refuse(format!("'{}' is closed but was not opened", shown(tag.body))),
            },
            Some('>') => return refuse("partials are not supported".to_owned()),
            None | Some('{' | '&') => nodes.push(Node::Emit(path(text, tag.body, tag.at)?)),
            Some(sigil) => return refuse(format!("'{sigil}' is not a kind of tag")),
        }
    }
    match open.pop() {
        Some(section) => {
            Err(broken(text, section.at, format!("'{}' is not closed", shown(section.name))))
        }
        None => Ok(nodes),
    }
}

/// `.`, or names with dots between them.
fn path<'t>(text: &str, word: &'t str, at: usize) -> Result<Expr<'t>, TemplateError> {
    let steps: Vec<&str> = if word == "." { Vec::new() } else { word.split('.').collect() };
    if steps.iter().any(|step| step.is_empty() || step.contains(char::is_whitespace)) {
        return Err(broken(text, at, format!("'{}' is not a valid name", shown(word))));
    }
    Ok(Expr::Path(NamePath { base: Base::Nearest, steps, text: word }))
}

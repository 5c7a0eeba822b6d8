//! `${name}`, and `$${` for a literal `${`: nothing else.

use super::error::{TemplateError, broken, shown};
use super::node::{Base, Expr, NamePath, Node};

pub(super) fn read(text: &str) -> Result<Vec<Node<'_>>, TemplateError> {
    let mut nodes = Vec::new();
    let mut at = 0;
    while let Some(dollar) = text[at..].find("${").map(|found| at + found) {
        let before = &text[at..dollar];
        if let Some(before) = before.strip_suffix('$') {
            nodes.extend([Node::Text(before), Node::Text("${")]);
            at = dollar + 2;
            continue;
        }
        if !before.is_empty() {
            nodes.push(Node::Text(before));
        }
        let inside = &text[dollar + 2..];
        let end = inside.find('}').ok_or_else(|| broken(text, dollar, "a ${ is not closed"))?;
        let name = &inside[..end];
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c)) {
            let why =
                format!("'{}' is not a valid name; write $${{ to print ${{ itself", shown(name));
            return Err(broken(text, dollar, why));
        }
        nodes.push(Node::Emit(Expr::Path(NamePath {
            base: Base::Name,
            steps: vec![name],
            text: name,
        })));
        at = dollar + 2 + end + 1;
    }
    nodes.push(Node::Text(&text[at..]));
    Ok(nodes)
}
